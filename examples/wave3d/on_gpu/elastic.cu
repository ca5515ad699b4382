#include "../elastic.cpp"  // as CUDA: its loops run on the GPU
