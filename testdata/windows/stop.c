/*
 * Starts a command in its own console, and ends it as a user does once a file is there whose name begins with a
 * prefix: stop ctrl-c|close PREFIX COMMAND...
 * It ends as the command did. close is what Windows does for a window of a console that is closed: it starts a thread
 * in the command at kernelbase's CtrlRoutine, which runs the command's handlers, and kills what is left after 5 s.
 */
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

static void fail(const char *what)
{
	fprintf(stderr, "stop: %s: error %lu\n", what, GetLastError());
	ExitProcess(99);
}

static int there(const wchar_t *prefix)
{
	WIN32_FIND_DATAW found;
	wchar_t pattern[MAX_PATH];
	HANDLE h;
	_snwprintf(pattern, MAX_PATH, L"%ls*", prefix);
	if ((h = FindFirstFileW(pattern, &found)) == INVALID_HANDLE_VALUE)
		return 0;
	FindClose(h);
	return 1;
}

static void close_console(HANDLE process)
{
	FARPROC routine = GetProcAddress(GetModuleHandleW(L"kernelbase"), "CtrlRoutine");
	HANDLE thread = routine ? CreateRemoteThread(process, NULL, 0, (LPTHREAD_START_ROUTINE)(void *)routine,
						     (void *)(ULONG_PTR)CTRL_CLOSE_EVENT, 0, NULL) : NULL;
	if (!thread)
		fail("cannot close its console");
	CloseHandle(thread);
	if (WaitForSingleObject(process, 5000) != WAIT_OBJECT_0) {
		TerminateProcess(process, 98);
		fail("the command took longer than Windows waits");
	}
}

int wmain(int argc, wchar_t **argv)
{
	STARTUPINFOW start = {.cb = sizeof start};
	PROCESS_INFORMATION child;
	wchar_t line[4096] = L"";
	DWORD code;
	int i, closes;
	if (argc < 4)
		fail("stop ctrl-c|close PREFIX COMMAND...");
	closes = !wcscmp(argv[1], L"close");
	for (i = 3; i < argc; i++) {
		wcscat(line, L"\"");
		wcscat(line, argv[i]);
		wcscat(line, L"\" ");
	}
	if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child))
		fail("cannot start");
	SetConsoleCtrlHandler(NULL, TRUE); /* this program goes on */
	while (!there(argv[2]))
		if (WaitForSingleObject(child.hProcess, 50) == WAIT_OBJECT_0)
			fail("the command ended before there was a file");
	if (closes)
		close_console(child.hProcess);
	else if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
		fail("cannot stop it");
	WaitForSingleObject(child.hProcess, INFINITE);
	GetExitCodeProcess(child.hProcess, &code);
	return (int)code;
}
