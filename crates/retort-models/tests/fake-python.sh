#!/bin/sh
# Stands in for `python3 -m pip download … --dest DIR PACKAGE==VERSION` in the tests of `pull`.
# It writes its arguments to ../../args beside DIR's folder and behaves as the package's name says.
dest=
last=
for argument in "$@"; do
    if [ "$last" = "--dest" ]; then dest=$argument; fi
    last=$argument
done
echo "$*" > "$dest/../../args"
case "$last" in
    no-pip==*) echo "/usr/bin/python3: No module named pip" >&2; exit 1 ;;
    fails==*) echo "Collecting fails"; echo "ERROR: No matching distribution found" >&2; exit 1 ;;
    empty==*) exit 0 ;;
    *) cp "$dest"/../../wheel/*.whl "$dest"/ ;;
esac
