#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "export/record.h"

namespace verbatim::cli {

// A run of the prompt ids that a turn added, as its record line says.
struct RecordSpan {
  std::size_t count = 0;
  std::string source;              // "template", "tools", "message" ...
  std::size_t message = SIZE_MAX;  // which one of the conversation
};

struct DemoTurn {
  exporting::RecordedTurn turn;
  std::size_t inherited = 0;  // prompt ids before its spans: the parent's row
  std::vector<RecordSpan> spans;
};

// The turns of a record file. Errors name the line.
base::Result<std::vector<DemoTurn>> read_demo_record(base::Files& files, const std::string& path);

}  // namespace verbatim::cli
