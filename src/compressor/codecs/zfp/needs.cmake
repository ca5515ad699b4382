taut_codec_needs(TAUT_ZFP Zfp 1.0 Zfp::zfp "install libzfp 1.0 or newer with its headers (Debian: libzfp-dev)")
