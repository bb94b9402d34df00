// StableHLO text, printed once. Two targets, one pure StableHLO between them:
//
//   iree  all functions in one module; weights are util.global parameters (#flow.parameter.named<"scope"::"name">);
//         state arguments whose new value has their type carry iree.abi.consume: it is written into their memory
//   xla   one module per function, whose entry is @main; weights are arguments after the function's own ones, in the
//         order of first use, which the manifest records; such state arguments carry tf.aliasing_output (donation)
//
// iree takes symbolic dims, printed as `?`, with StableHLO's dynamic forms for ops that make shapes; their values are
// read off the arguments' dims. xla takes none.
//
// Module paths appear as locations, loc("blk.3.attn.q"). Every value of every constant reads back bit-equal. Input must
// have gone through the pipeline: a structured op left over, a symbolic dim for xla, or one that an op has no form for
// (reshape) is an error (kEmit), never a comment or a stand-in.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace headrace {

// The scope of parameters in IREE's text and command lines.
inline constexpr std::string_view kParameterScope = "model";

struct IreeOptions {
  // State lives in globals of the module, one for each name of a state result, and leaves arguments and results.
  // kEmit when functions disagree about a state's type or it is symbolic.
  bool state_in_globals{};
};
[[nodiscard]] Result<std::string> emit_iree(const Module& module, const IreeOptions& options = {});

struct XlaProgram {
  std::string text;
  std::vector<std::string> parameters;  // names, in the order of the arguments that follow the function's own
};
// Precondition: calls are inlined.
[[nodiscard]] Result<XlaProgram> emit_xla(const Module& module, const Function& function);

}  // namespace headrace
