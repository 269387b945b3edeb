/*
 * Starts a command in its own console, and presses Ctrl-C there once a file is there whose name begins with a
 * prefix: stop PREFIX COMMAND...
 * It ends as the command did.
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

int wmain(int argc, wchar_t **argv)
{
	STARTUPINFOW start = {.cb = sizeof start};
	PROCESS_INFORMATION child;
	wchar_t line[4096] = L"";
	DWORD code;
	int i;
	if (argc < 3)
		fail("stop PREFIX COMMAND...");
	for (i = 2; i < argc; i++) {
		wcscat(line, L"\"");
		wcscat(line, argv[i]);
		wcscat(line, L"\" ");
	}
	if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child))
		fail("cannot start");
	SetConsoleCtrlHandler(NULL, TRUE); /* this program goes on */
	while (!there(argv[1]))
		if (WaitForSingleObject(child.hProcess, 50) == WAIT_OBJECT_0)
			fail("the command ended before there was a file");
	if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
		fail("cannot stop it");
	WaitForSingleObject(child.hProcess, INFINITE);
	GetExitCodeProcess(child.hProcess, &code);
	return (int)code;
}
