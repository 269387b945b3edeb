#!/bin/bash
# Runs when all tasks have ended, successfully or not. retime verify and join refuse incomplete
# work, so the output is whole or absent.
set -e
"$RETIME" verify --plan "$RETIME_PLAN" --sample "$RETIME_SAMPLE" -q
"$RETIME" join --plan "$RETIME_PLAN" -o "$RETIME_JOINED" -y -q
if [ -n "$RETIME_OVERWRITE" ]; then
	mv -fT "$RETIME_JOINED" "$RETIME_OUTPUT"
elif ! mv -nT "$RETIME_JOINED" "$RETIME_OUTPUT" || [ -e "$RETIME_JOINED" ]; then
	echo "output $RETIME_OUTPUT exists; -y overwrites it" >&2
	exit 73
fi
rm -r "$RETIME_WORK"
