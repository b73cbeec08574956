// Files that the command carries in itself, each as const char NAME[] that ends with a zero. The
// assembler reads them.
#define CLEAVE_EMBED(name, file) \
  asm(".section .rodata\n"       \
      ".globl " #name "\n" #name \
      ":\n"                      \
      ".incbin \"" file          \
      "\"\n"                     \
      ".byte 0\n"                \
      ".previous\n")

CLEAVE_EMBED(study_template, CLEAVE_PAGES "/study.html");
CLEAVE_EMBED(cosched_template, CLEAVE_PAGES "/cosched.html");
CLEAVE_EMBED(net_template, CLEAVE_PAGES "/net.html");
CLEAVE_EMBED(tsp_template, CLEAVE_PAGES "/tsp.html");
CLEAVE_EMBED(md_template, CLEAVE_PAGES "/md.html");
CLEAVE_EMBED(record_template, CLEAVE_PAGES "/../record/record.html");
CLEAVE_EMBED(page_style, CLEAVE_PAGES "/page.css");
CLEAVE_EMBED(page_script, CLEAVE_PAGES "/page.js");
CLEAVE_EMBED(chart_library, CLEAVE_CHART_JS);
