#include "../halo.cpp"  // as CUDA: its loops run on the GPU
