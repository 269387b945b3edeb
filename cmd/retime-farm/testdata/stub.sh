#!/bin/sh
# Replaces retime in tests of the farm. STUB_RANGES is the number of a plan's ranges, and
# STUB_SECONDS the time that each takes. STUB_CALLS names a file that gets a line for each call. If
# STUB_HANG names a file that does not exist, the first segment creates it and then hangs.
for a; do
	case $a in
	--plan=*) plan=${a#*=} ;;
	--output=*) output=${a#*=} ;;
	--index=*) index=${a#*=} ;;
	--count=*) count=${a#*=} ;;
	esac
done
[ -z "$STUB_CALLS" ] || echo "$*" >>"$STUB_CALLS"
case $1 in
--version) echo "retime version ${STUB_VERSION:-stub}" ;;
plan)
	{
		echo '{"input": {"size": 1, "modified": "2026-01-01T00:00:00Z"}, "whole": {"frames": '"$STUB_RANGES"'}, "ranges": [{}'
		yes ',{}' | head -n $((STUB_RANGES - 1))
		echo ']}'
	} >"$output"
	;;
segment)
	if [ -n "$STUB_HANG" ] && [ ! -e "$STUB_HANG" ]; then
		: >"$STUB_HANG"
		exec sleep 1000
	fi
	dir=${plan%.json}.segments
	mkdir -p "$dir"
	while [ "$count" -gt 0 ]; do
		sleep "$STUB_SECONDS"
		echo '{"frames": 1, "total": 1, "seconds": 0}' >&2
		: >"$dir/$(printf %06d "$index").json"
		index=$((index + 1)) count=$((count - 1))
	done
	;;
join)
	while [ "$(ls "${plan%.json}.segments" 2>/dev/null | wc -l)" -lt "$STUB_RANGES" ]; do sleep 0.5; done
	echo joined >"$output"
	;;
esac
