# libzfp, wherever it was built: Zfp::zfp, Zfp_FOUND, Zfp_VERSION. Set ZFP_INCLUDE_DIR and ZFP_LIBRARY, or CMAKE_PREFIX_PATH,
# where it is not found. (The package that zfp installs itself asks every user for OpenMP.)
find_path(ZFP_INCLUDE_DIR zfp/version.h)
find_library(ZFP_LIBRARY zfp)
mark_as_advanced(ZFP_INCLUDE_DIR ZFP_LIBRARY)

set(Zfp_VERSION 0)
if(ZFP_INCLUDE_DIR)
  file(STRINGS ${ZFP_INCLUDE_DIR}/zfp/version.h lines REGEX "^#define ZFP_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM lines REPLACE "[^0-9]+([0-9]+).*" "\\1")
  string(JOIN . Zfp_VERSION ${lines})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Zfp REQUIRED_VARS ZFP_LIBRARY ZFP_INCLUDE_DIR VERSION_VAR Zfp_VERSION)

if(Zfp_FOUND AND NOT TARGET Zfp::zfp)
  add_library(Zfp::zfp UNKNOWN IMPORTED)
  set_target_properties(Zfp::zfp PROPERTIES IMPORTED_LOCATION "${ZFP_LIBRARY}"
                                            INTERFACE_INCLUDE_DIRECTORIES "${ZFP_INCLUDE_DIR}")
endif()
