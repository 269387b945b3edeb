#!/bin/bash
# A task of the array: makes every RETIME_STRIDE-th segment. If it fails for a reason that
# may pass, it is requeued a few times.
"$RETIME" segment --plan "$RETIME_PLAN" --index "$SLURM_ARRAY_TASK_ID" --stride "$RETIME_STRIDE" \
	--threads "${SLURM_CPUS_PER_TASK:-1}" -q
code=$?
case $code in
73 | 75 | 130)
	[ "${SLURM_RESTART_COUNT:-0}" -ge "$RETIME_TRIES" ] || scontrol requeue "$SLURM_JOB_ID"
	;;
esac
exit $code
