#pragma once

#include <string>

#include "cli/command.h"
#include "store/sqlite/held.h"

namespace verbatim::cli {

// `verbatim store export FILE` and `import FILE`; "-" is standard output or input. How far they are
// is said on stderr.
Exit export_store(const store::sqlite::ToolTarget& target, const std::string& file);
Exit import_store(const store::sqlite::ToolTarget& target, const std::string& file);

}  // namespace verbatim::cli
