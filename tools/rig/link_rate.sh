# shellcheck shell=bash
# To be sourced. link_mbit RATE: 1gbit -> 1000, 2.5gbit -> 2500, 100mbit -> 100.
link_mbit() {
  local scale
  case $1 in
    *gbit) scale=1000 ;;
    *mbit) scale=1 ;;
    *) scale=0 ;;
  esac
  awk -v number="${1%?bit}" -v scale="$scale" 'BEGIN {
    if (number !~ /^[0-9.]+$/ || number * scale < 1) exit 1
    printf "%d\n", number * scale
  }' || { echo "a link is a rate such as 1gbit or 100mbit, not '$1'" >&2; return 2; }
}
