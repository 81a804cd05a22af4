// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libweir-run.so"

static bool wrong(const char *name, const char *why)
{
    fprintf(stderr, "weir-run: %s: %s\n", name, why);
    return false;
}

// --- can a library be preloaded? ---------------------------------------------------------------------
static bool has_section(const uint8_t *file, size_t bytes, const char *name)
{
    const Elf64_Ehdr *const header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Shdr *const sections = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);
    if (header->e_shoff == 0 || header->e_shoff > bytes ||
        (bytes - header->e_shoff) / sizeof *sections < header->e_shnum || header->e_shstrndx >= header->e_shnum)
        return false;
    const uint64_t names = sections[header->e_shstrndx].sh_offset, size = sections[header->e_shstrndx].sh_size;
    if (names > bytes || size > bytes - names)
        return false;
    for (uint32_t i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_name + strlen(name) < size &&
            strcmp((const char *)file + names + sections[i].sh_name, name) == 0)
            return true;
    return false;
}

static bool dynamic(const uint8_t *file, size_t bytes)
{
    const Elf64_Ehdr *const header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Phdr *const segments = (const Elf64_Phdr *)(const void *)(file + header->e_phoff);
    if (header->e_phoff > bytes || (bytes - header->e_phoff) / sizeof *segments < header->e_phnum)
        return false;
    for (uint32_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            return true;
    return false;
}

static bool script_check(const char *text, size_t bytes);

static bool file_check(const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size < 2) {
        if (fd >= 0)
            close(fd);
        return true;  // it cannot be read: exec will tell
    }
    const size_t bytes = (size_t)status.st_size;
    uint8_t *const file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return true;
    bool good = true;
    if (bytes > sizeof(Elf64_Ehdr) && memcmp(file, ELFMAG, SELFMAG) == 0) {
        if (file[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
            good = wrong(path, "of another word size than weir-run: it cannot be preloaded");
        else if (file[EI_CLASS] == ELFCLASS64 && has_section(file, bytes, ".go.buildinfo"))
            good = wrong(path, "a Go program: it calls the kernel by itself and cannot be preloaded");
        else if (file[EI_CLASS] == ELFCLASS64 && !dynamic(file, bytes))
            good = wrong(path, "linked statically: it cannot be preloaded");
        else if (status.st_mode & (S_ISUID | S_ISGID) && geteuid() != 0)
            good = wrong(path, "runs as another user (set-uid): it cannot be preloaded");
    } else if (file[0] == '#' && file[1] == '!') {
        good = script_check((const char *)file + 2, bytes - 2);
    }
    munmap(file, bytes);
    return good;
}

// The interpreter in a script's first line.
static bool script_check(const char *text, size_t bytes)
{
    char name[256];
    size_t length = 0;
    while (bytes > 0 && (*text == ' ' || *text == '\t'))
        text++, bytes--;
    while (length < bytes && length < sizeof name - 1 && strchr(" \t\r\n", text[length]) == NULL)
        length++;
    memcpy(name, text, length);
    name[length] = '\0';
    struct stat status;
    return stat(name, &status) != 0 || file_check(name);
}

bool run_program_find(const char *name, char *path, size_t bytes)
{
    const char *at = getenv("PATH");
    if (strchr(name, '/') != NULL) {
        (void)snprintf(path, bytes, "%s", name);
        return access(path, X_OK) == 0 ? file_check(path) : wrong(name, strerror(errno));
    }
    for (at = at != NULL ? at : "/usr/local/bin:/usr/bin:/bin"; *at != '\0';) {
        const size_t length = strcspn(at, ":");
        struct stat status;
        (void)snprintf(path, bytes, "%.*s/%s", (int)length, length > 0 ? at : ".", name);
        if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0)
            return file_check(path);
        at += length + (at[length] == ':');
    }
    return wrong(name, "no such program");
}

bool run_library_find(char *path, size_t bytes)
{
    static const char *const places[] = {"/" LIBRARY, "/../lib/weir/" LIBRARY, "/../lib/" LIBRARY};
    char own[4096];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length > 0) {
        own[length] = '\0';
        *strrchr(own, '/') = '\0';
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            (void)snprintf(path, bytes, "%s%s", own, places[i]);
            if (access(path, R_OK) == 0)
                return true;
        }
    }
    return wrong(LIBRARY, "not beside weir-run, nor in ../lib/weir");
}

// --- the process -------------------------------------------------------------------------------------
static void environment_set(const char *library, const uint8_t token[RUN_TOKEN])
{
    char text[8192], digits[2 * RUN_TOKEN + 1];
    const char *const others = getenv("LD_PRELOAD");
    run_token_write(digits, token, RUN_TOKEN);
    (void)snprintf(text, sizeof text, "%s%s%s", library, others != NULL && *others ? ":" : "",
                   others != NULL ? others : "");
    setenv("LD_PRELOAD", text, 1);
    setenv(RUN_ENVIRONMENT, digits, 1);
}

int run_program_become(const char *path, char **argv, const char *library, const uint8_t token[RUN_TOKEN])
{
    environment_set(library, token);
    execv(path, argv);
    return errno;
}

bool run_child_make(struct run_child *child, const char *path, char **argv, const char *library,
                    const uint8_t token[RUN_TOKEN])
{
    int go[2], failed[2];
    char byte;
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0)
        return wrong("pipe", strerror(errno));
    child->pid = fork();
    if (child->pid < 0)
        return wrong("fork", strerror(errno));
    if (child->pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(2);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        const int error = run_program_become(path, argv, library, token);
        (void)!write(failed[1], &error, sizeof error);
        _exit(2);
    }
    close(go[0]);
    close(failed[1]);
    child->go = go[1];
    child->failed = failed[0];
    return true;
}

int run_child_start(struct run_child *child)
{
    int error = 0;
    (void)!write(child->go, "", 1);
    close(child->go);
    if (read(child->failed, &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    close(child->failed);
    return error;
}

void run_child_drop(struct run_child *child)
{
    close(child->go);
    close(child->failed);
    (void)waitpid(child->pid, NULL, 0);
}
