#!/bin/bash
# Runs when all tasks have ended, however they did. retime verify and join refuse what is
# not complete, so the output is whole or absent.
set -e
"$RETIME" verify --plan "$RETIME_PLAN" --sample "$RETIME_SAMPLE" -q
"$RETIME" join --plan "$RETIME_PLAN" -o "$RETIME_JOINED" -y -q
if [ -e "$RETIME_OUTPUT" ] && [ -z "$RETIME_OVERWRITE" ]; then
	echo "output $RETIME_OUTPUT exists; -y overwrites it" >&2
	exit 73
fi
mv -f "$RETIME_JOINED" "$RETIME_OUTPUT"
rm -r "$RETIME_WORK"
