package shell

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"unsafe"

	"golang.org/x/sys/windows"
)

// plain matches words that need no quotes; backslashes stand for themselves, but before a quote.
var (
	plain   = regexp.MustCompile(`^[A-Za-z0-9_./\\=:,%+@-]+$`)
	slashes = regexp.MustCompile(`(\\*)("|$)`)
)

// quote quotes a word as programs take their command lines apart. What is between quotes stays as it
// is for cmd.exe, too, but for what it takes for variables.
func quote(word string) string {
	return `"` + slashes.ReplaceAllStringFunc(word, func(end string) string {
		if n := len(end) - 1; n >= 0 && end[n] == '"' {
			return end[:n] + end[:n] + `\"`
		}
		return end + end
	}) + `"`
}

// command has cmd.exe run line as it stands: /s takes off the outer quotes alone, and /d leaves out
// what the registry would have it run before.
func command(line string) *exec.Cmd {
	shell := os.Getenv("ComSpec")
	if shell == "" {
		shell = "cmd.exe"
	}
	c := exec.Command(shell)
	c.SysProcAttr = &windows.SysProcAttr{
		CmdLine:       `/d /s /c "` + line + `"`,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED, // Ctrl-C is for the parent alone
	}
	return c
}

// group is a job object, which holds all processes that the first one starts.
type group windows.Handle

// start starts c, which begins to run when it is in the group.
func start(c *exec.Cmd) (group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE // even if this process is killed
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	id := uint32(c.Process.Pid)
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, id)
	if err == nil {
		err = windows.AssignProcessToJobObject(job, p)
		windows.CloseHandle(p)
	}
	if err == nil {
		err = resume(id)
	}
	if err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		windows.CloseHandle(job)
		return 0, err
	}
	return group(job), nil
}

// resume has the thread of a process that was started suspended run.
func resume(process uint32) error {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(list)
	e := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(list, &e); err == nil; err = windows.Thread32Next(list, &e) {
		if e.OwnerProcessID != process {
			continue
		}
		t, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, e.ThreadID)
		if err != nil {
			return err
		}
		defer windows.CloseHandle(t)
		_, err = windows.ResumeThread(t)
		return err
	}
	return errors.New("the process has no thread")
}

// kill ends the group's processes. The handle stays until this process ends, as kill may be
// called again.
func (g group) kill() { _ = windows.TerminateJobObject(windows.Handle(g), 1) }
