/* A C library as a subject of ptxsmith: NVIDIA's nvJitLink, as it stands, behind the protocol of `serve:`.
 *
 *     cc -O2 -o nvjitlink-subject nvjitlink_subject.c -ldl
 *     ptxsmith check corpus/ --subject 'serve:./nvjitlink-subject /path/to/libnvJitLink.so' --expect-failures expected.txt
 *
 * The library only accepts and refuses here: what the module holds is in a cubin that this adapter does not read, so it says
 * "values": false, and no variable is told. Nothing is caught: where the library dies this program dies, which ptxsmith
 * reports as a crash of the module that it was on, and starts it again.
 *
 * For a library of your own, replace `struct library`, `load` and `assemble`; the rest is the protocol. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

struct library {
    int (*create)(void **, uint32_t, const char **);
    int (*add)(void *, int, const void *, size_t, const char *);
    int (*complete)(void *);
    int (*destroy)(void **);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int major, minor;
};

/* nvJitLinkInputType: NVJITLINK_INPUT_PTX. */
enum { PTX = 2 };

static void *symbol(void *loaded, const char *name, int major, int minor) {
    char versioned[80];
    snprintf(versioned, sizeof versioned, "__nvJitLink%s_%d_%d", name, major, minor);
    return dlsym(loaded, versioned);
}

/* The library's functions carry its release in their names; the newest that it has are taken. */
static int load(const char *path, struct library *library) {
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    for (int major = 19; major >= 12; major--)
        for (int minor = 19; minor >= 0; minor--) {
            void *create = symbol(loaded, "Create", major, minor);
            if (!create) continue;
            /* A pointer to data becomes one to a function by its bytes: ISO C has no conversion. */
            struct { void *from; void *to; } all[] = {
                {create, &library->create},
                {symbol(loaded, "AddData", major, minor), &library->add},
                {symbol(loaded, "Complete", major, minor), &library->complete},
                {symbol(loaded, "Destroy", major, minor), &library->destroy},
                {symbol(loaded, "GetErrorLogSize", major, minor), &library->log_size},
                {symbol(loaded, "GetErrorLog", major, minor), &library->log},
            };
            for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                if (!all[i].from) return 0;
                memcpy(all[i].to, &all[i].from, sizeof all[i].from);
            }
            library->major = major, library->minor = minor;
            return 1;
        }
    fprintf(stderr, "%s: no nvJitLink\n", path);
    return 0;
}

/* Whether the library takes a module. What it says of one that it refuses is for the caller to free. */
static int assemble(const struct library *library, const char *ptx, const char *target, char **said) {
    char arch[64];
    snprintf(arch, sizeof arch, "-arch=%s", target);
    const char *options[] = {arch};
    void *handle = NULL;
    *said = NULL;
    if (library->create(&handle, 1, options) != 0) return 0;
    int failed = library->add(handle, PTX, ptx, strlen(ptx) + 1, "module.ptx");
    if (!failed) failed = library->complete(handle);
    size_t size = 0;
    if (failed && library->log_size(handle, &size) == 0 && size > 0 && (*said = calloc(size + 1, 1)) != NULL)
        library->log(handle, *said);
    library->destroy(&handle);
    return !failed;
}

/* ---- the protocol ---- */

/* The place behind a JSON string that begins at the quote `at`. */
static const char *behind_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The value of a member of the outermost object, or NULL. */
static const char *member(const char *json, const char *name) {
    size_t length = strlen(name);
    int depth = 0;
    for (const char *at = json; *at;) {
        if (*at == '"') {
            const char *end = behind_string(at), *next = end + strspn(end, " \t");
            if (depth == 1 && *next == ':' && (size_t)(end - at) == length + 2 && !strncmp(at + 1, name, length)) {
                next++;
                return next + strspn(next, " \t");
            }
            at = end;
            continue;
        }
        if (*at == '{' || *at == '[') depth++;
        if (*at == '}' || *at == ']') depth--;
        at++;
    }
    return NULL;
}

static unsigned hex(const char *at) {
    char digits[5] = {0};
    memcpy(digits, at, strnlen(at, 4));
    return (unsigned)strtoul(digits, NULL, 16);
}

/* A JSON string as UTF-8, for the caller to free; NULL where there is none. */
static char *text(const char *at) {
    if (!at || *at != '"') return NULL;
    char *all = malloc(strlen(at) + 1), *out = all;
    if (!all) return NULL;
    for (at++; *at && *at != '"'; at++) {
        if (*at != '\\' || !at[1]) {
            *out++ = *at;
            continue;
        }
        at++;
        const char *named = strchr("n\nt\tr\rb\bf\f", *at);
        if (named && strchr("ntrbf", *at)) {
            *out++ = named[1];
        } else if (*at == 'u' && strnlen(at + 1, 4) == 4) {
            unsigned code = hex(at + 1);
            at += 4;
            if (code >= 0xd800 && code < 0xdc00 && at[1] == '\\' && at[2] == 'u' && strnlen(at + 3, 4) == 4) {
                code = 0x10000 + ((code - 0xd800) << 10) + (hex(at + 3) - 0xdc00);
                at += 6;
            }
            if (code < 0x80) {
                *out++ = (char)code;
            } else if (code < 0x800) {
                *out++ = (char)(0xc0 | code >> 6), *out++ = (char)(0x80 | (code & 63));
            } else if (code < 0x10000) {
                *out++ = (char)(0xe0 | code >> 12), *out++ = (char)(0x80 | (code >> 6 & 63));
                *out++ = (char)(0x80 | (code & 63));
            } else {
                *out++ = (char)(0xf0 | code >> 18), *out++ = (char)(0x80 | (code >> 12 & 63));
                *out++ = (char)(0x80 | (code >> 6 & 63)), *out++ = (char)(0x80 | (code & 63));
            }
        } else {
            *out++ = *at;
        }
    }
    *out = 0;
    return all;
}

static void print_string(const char *text) {
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\') printf("\\%c", *at);
        else if (*at < 0x20) printf("\\u%04x", *at);
        /* What a library says need be no UTF-8. */
        else putchar(*at < 0x80 ? *at : '?');
    }
    putchar('"');
}

/* The line that `module.ptx, line 4; error : ...` blames, or 0. */
static long blamed(const char *message) {
    const char *at = strstr(message, ", line ");
    return at ? strtol(at + 7, NULL, 10) : 0;
}

static void print_diagnostics(char *said) {
    int first = 1;
    putchar('[');
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
        long number = blamed(line);
        printf("%s{\"severity\": \"error\", \"line\": ", first ? "" : ", ");
        if (number > 0) printf("%ld", number);
        else printf("null");
        printf(", \"message\": ");
        print_string(line);
        putchar('}');
        first = 0;
    }
    putchar(']');
}

int main(int count, char **arguments) {
    struct library library;
    if (count < 2 || !load(arguments[1], &library)) {
        fprintf(stderr, "usage: %s /path/to/libnvJitLink.so\n", arguments[0]);
        return 2;
    }
    if (count > 2 && !strcmp(arguments[2], "--describe")) {
        printf("{\"schema\": \"ptxsmith.subject/1\", \"name\": \"nvjitlink-in-c\", \"version\": \"%d.%d\", "
               "\"lineage\": \"nvidia\", \"relocations\": false, \"values\": false, \"lists\": true}\n",
               library.major, library.minor);
        return 0;
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *id = member(line, "id");
        char *ptx = text(member(line, "ptx")), *target = text(member(line, "target")), *said = NULL;
        int taken = ptx && assemble(&library, ptx, target ? target : "sm_80", &said);
        printf("{\"id\": %.*s, \"observation\": {\"schema\": \"ptxsmith.module/1\", \"outcome\": \"%s\", \"variables\": {}, "
               "\"diagnostics\": ",
               id ? (int)strcspn(id, ",}") : 4, id ? id : "null", taken ? "accepted" : "refused");
        if (said) print_diagnostics(said);
        else printf("[]");
        printf("}}\n");
        fflush(stdout);
        free(ptx), free(target), free(said);
    }
    free(line);
    return 0;
}
