#include "engine/pjrt.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "engine/one_line.h"

namespace headrace::pjrt {

namespace {

// The arguments of a call, zero but for their size.
template <class Args>
Args args_of(size_t struct_size) {
  Args args{};
  args.struct_size = struct_size;
  return args;
}
#define HR_PJRT_ARGS(name) args_of<name>(name##_STRUCT_SIZE)

// Protocol buffers, as far as CompileOptionsProto needs them: fields of small numbers and short strings.
void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80U));
  out.push_back(static_cast<char>(value));
}
void put_number(std::string& out, uint64_t field, uint64_t value) {
  put_varint(out, field << 3U);
  put_varint(out, value);
}
void put_bytes(std::string& out, uint64_t field, std::string_view bytes) {
  put_varint(out, (field << 3U) | 2U);
  put_varint(out, bytes.size());
  out += bytes;
}

void destroy_buffer(const PJRT_Api& api, PJRT_Buffer* buffer) {
  auto args = HR_PJRT_ARGS(PJRT_Buffer_Destroy_Args);
  args.buffer = buffer;
  if (PJRT_Error* error = api.PJRT_Buffer_Destroy(&args)) {
    auto drop = HR_PJRT_ARGS(PJRT_Error_Destroy_Args);
    drop.error = error;
    api.PJRT_Error_Destroy(&drop);
  }
}

}  // namespace

Status check_api(const PJRT_Api& api) {
  const PJRT_Api_Version& version = api.pjrt_api_version;
  // The fields up to the version have had their places since the first version.
  if (version.major_version != PJRT_API_MAJOR)
    return fail(ErrorCode::kEngineMissing, "PJRT API {}.{}, expected {}.{} or newer", version.major_version,
                version.minor_version, PJRT_API_MAJOR, kOldestMinor);
  if (version.minor_version < kOldestMinor)
    return fail(ErrorCode::kEngineMissing, "PJRT API {}.{}, expected {}.{} or newer", version.major_version,
                version.minor_version, PJRT_API_MAJOR, kOldestMinor);
  // The last function that is called here.
  constexpr size_t kNeeded = PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Buffer_ToHostBuffer);
  if (api.struct_size < kNeeded)
    return fail(ErrorCode::kEngineMissing, "PJRT API {}.{}: a table of {} bytes, expected at least {}",
                version.major_version, version.minor_version, api.struct_size, kNeeded);
  return {};
}

std::string compile_options(const CompileOverrides& overrides) {
  std::string build;
  put_number(build, 4, 1);  // num_replicas
  put_number(build, 5, 1);  // num_partitions
  std::string out;
  put_bytes(out, 3, build);  // executable_build_options
  for (const auto& [option, value] : overrides) {
    std::string held;
    std::string entry;
    put_bytes(held, 1, value);  // OptionOverrideProto.string_field
    put_bytes(entry, 1, option);
    put_bytes(entry, 2, held);
    put_bytes(out, 7, entry);  // env_option_overrides
  }
  return out;
}

PJRT_Buffer_Type buffer_type(DType dtype) {
  switch (dtype) {
    case DType::kI1:
      return PJRT_Buffer_Type_PRED;
    case DType::kI8:
      return PJRT_Buffer_Type_S8;
    case DType::kI16:
      return PJRT_Buffer_Type_S16;
    case DType::kI32:
      return PJRT_Buffer_Type_S32;
    case DType::kI64:
      return PJRT_Buffer_Type_S64;
    case DType::kU8:
      return PJRT_Buffer_Type_U8;
    case DType::kU16:
      return PJRT_Buffer_Type_U16;
    case DType::kU32:
      return PJRT_Buffer_Type_U32;
    case DType::kU64:
      return PJRT_Buffer_Type_U64;
    case DType::kF16:
      return PJRT_Buffer_Type_F16;
    case DType::kBF16:
      return PJRT_Buffer_Type_BF16;
    case DType::kF32:
      return PJRT_Buffer_Type_F32;
    case DType::kF64:
      return PJRT_Buffer_Type_F64;
  }
  return PJRT_Buffer_Type_INVALID;
}

Result<std::shared_ptr<const Client>> Client::open(const std::string& plugin) {
  // A bare name would be searched for where libraries are.
  const std::string path = std::filesystem::absolute(plugin).string();
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return fail(ErrorCode::kEngineMissing, "{}", one_line(::dlerror()));
  void* symbol = ::dlsym(library, "GetPjrtApi");
  if (symbol == nullptr) return fail(ErrorCode::kEngineMissing, "{}: no PJRT plugin: it exports no GetPjrtApi", plugin);
  const auto* api = reinterpret_cast<const PJRT_Api* (*)()>(symbol)();
  if (api == nullptr) return fail(ErrorCode::kEngineMissing, "{}: GetPjrtApi gives nothing", plugin);
  if (auto fit = check_api(*api); !fit) return fail(std::move(fit).error().in(plugin));
  auto client = std::make_shared<Client>(*api);
  if (auto started = client->start(); !started) return fail(std::move(started).error().in(plugin));
  return client;
}

Status Client::start() {
  auto initialize = HR_PJRT_ARGS(PJRT_Plugin_Initialize_Args);
  HR_TRY_STATUS(check(api_.PJRT_Plugin_Initialize(&initialize), "initialize"));
  auto create = HR_PJRT_ARGS(PJRT_Client_Create_Args);
  HR_TRY_STATUS(check(api_.PJRT_Client_Create(&create), "create a client"));
  client_ = create.client;
  auto devices = HR_PJRT_ARGS(PJRT_Client_AddressableDevices_Args);
  devices.client = client_;
  HR_TRY_STATUS(check(api_.PJRT_Client_AddressableDevices(&devices), "list devices"));
  if (devices.num_addressable_devices == 0) return fail(ErrorCode::kEngine, "the plugin has no device here");
  device_ = devices.addressable_devices[0];
  return {};
}

Client::~Client() {
  if (client_ == nullptr) return;
  auto args = HR_PJRT_ARGS(PJRT_Client_Destroy_Args);
  args.client = client_;
  static_cast<void>(check(api_.PJRT_Client_Destroy(&args), "destroy the client"));
}

Status Client::check(PJRT_Error* error, std::string_view what) const {
  if (error == nullptr) return {};
  auto message = HR_PJRT_ARGS(PJRT_Error_Message_Args);
  message.error = error;
  api_.PJRT_Error_Message(&message);
  Error out{.code = ErrorCode::kEngine,
            .message = fmt::format("xla: {}: {}", what, one_line({message.message, message.message_size}))};
  auto drop = HR_PJRT_ARGS(PJRT_Error_Destroy_Args);
  drop.error = error;
  api_.PJRT_Error_Destroy(&drop);
  return fail(std::move(out));
}

Status Client::wait(PJRT_Event* event, std::string_view what) const {
  if (event == nullptr) return {};
  auto await = HR_PJRT_ARGS(PJRT_Event_Await_Args);
  await.event = event;
  auto status = check(api_.PJRT_Event_Await(&await), what);
  auto destroy = HR_PJRT_ARGS(PJRT_Event_Destroy_Args);
  destroy.event = event;
  HR_TRY_STATUS(check(api_.PJRT_Event_Destroy(&destroy), what));
  return status;
}

Buffer Client::own(PJRT_Buffer* buffer) const {
  return {shared_from_this(), buffer,
          [](const Client& client, PJRT_Buffer* value) { destroy_buffer(client.api_, value); }};
}

Result<Executable> Client::compile(std::string_view text, const CompileOverrides& overrides) const {
  constexpr std::string_view kFormat = "mlir";
  // The C structs are not const-correct; nothing is written through them.
  std::string code(text);
  auto program = HR_PJRT_ARGS(PJRT_Program);
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  const std::string options = compile_options(overrides);
  auto args = HR_PJRT_ARGS(PJRT_Client_Compile_Args);
  args.client = client_;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  HR_TRY_STATUS(check(api_.PJRT_Client_Compile(&args), "compile"));
  return Executable{shared_from_this(), args.executable, [](const Client& client, PJRT_LoadedExecutable* value) {
                      auto destroy = HR_PJRT_ARGS(PJRT_LoadedExecutable_Destroy_Args);
                      destroy.executable = value;
                      static_cast<void>(client.check(client.api_.PJRT_LoadedExecutable_Destroy(&destroy), "destroy"));
                    }};
}

Result<size_t> Client::count_results(const Executable& executable) const {
  auto get = HR_PJRT_ARGS(PJRT_LoadedExecutable_GetExecutable_Args);
  get.loaded_executable = executable.get();
  HR_TRY_STATUS(check(api_.PJRT_LoadedExecutable_GetExecutable(&get), "inspect the program"));
  auto count = HR_PJRT_ARGS(PJRT_Executable_NumOutputs_Args);
  count.executable = get.executable;
  auto status = check(api_.PJRT_Executable_NumOutputs(&count), "count results");
  auto destroy = HR_PJRT_ARGS(PJRT_Executable_Destroy_Args);
  destroy.executable = get.executable;
  HR_TRY_STATUS(check(api_.PJRT_Executable_Destroy(&destroy), "inspect the program"));
  HR_TRY_STATUS(std::move(status));
  return count.num_outputs;
}

Result<Buffer> Client::from_host(DType dtype, std::span<const int64_t> sizes, std::span<const std::byte> bytes,
                                 PJRT_HostBufferSemantics semantics, bool& held) const {
  auto args = HR_PJRT_ARGS(PJRT_Client_BufferFromHostBuffer_Args);
  args.client = client_;
  args.data = bytes.data();
  args.type = buffer_type(dtype);
  args.dims = sizes.data();
  args.num_dims = sizes.size();
  args.host_buffer_semantics = semantics;
  args.device = device_;
  HR_TRY_STATUS(check(api_.PJRT_Client_BufferFromHostBuffer(&args), "upload"));
  Buffer out = own(args.buffer);
  held = false;
  if (semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy && args.done_with_host_buffer != nullptr) {
    // The event comes when the buffer is freed, or at once where the plugin made a copy.
    auto ready = HR_PJRT_ARGS(PJRT_Event_IsReady_Args);
    ready.event = args.done_with_host_buffer;
    HR_TRY_STATUS(check(api_.PJRT_Event_IsReady(&ready), "upload"));
    held = !ready.is_ready;
    auto destroy = HR_PJRT_ARGS(PJRT_Event_Destroy_Args);
    destroy.event = args.done_with_host_buffer;
    HR_TRY_STATUS(check(api_.PJRT_Event_Destroy(&destroy), "upload"));
    return out;
  }
  HR_TRY_STATUS(wait(args.done_with_host_buffer, "upload"));
  return out;
}

Result<Buffer> Client::upload(DType dtype, std::span<const int64_t> sizes, std::span<const std::byte> bytes) const {
  bool held = false;
  return from_host(dtype, sizes, bytes, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, held);
}

Result<Buffer> Client::adopt(DType dtype, std::span<const int64_t> sizes, std::span<const std::byte> bytes,
                             bool& held) const {
  return from_host(dtype, sizes, bytes, PJRT_HostBufferSemantics_kImmutableZeroCopy, held);
}

Result<std::vector<Buffer>> Client::execute(const Executable& executable, const std::vector<PJRT_Buffer*>& arguments,
                                            const std::vector<int64_t>& kept, size_t results) const {
  auto options = HR_PJRT_ARGS(PJRT_ExecuteOptions);
  options.non_donatable_input_indices = kept.data();
  options.num_non_donatable_input_indices = kept.size();
  std::vector<PJRT_Buffer*> made(results);
  PJRT_Buffer* const* argument_list = arguments.data();
  PJRT_Buffer** result_list = made.data();
  auto args = HR_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args);
  args.executable = executable.get();
  args.options = &options;
  args.argument_lists = &argument_list;
  args.num_devices = 1;
  args.num_args = arguments.size();
  args.output_lists = &result_list;
  HR_TRY_STATUS(check(api_.PJRT_LoadedExecutable_Execute(&args), "run"));
  std::vector<Buffer> out;
  out.reserve(results);
  for (PJRT_Buffer* buffer : made) out.push_back(own(buffer));
  return out;
}

Status Client::download(const Buffer& buffer, std::span<std::byte> out) const {
  auto args = HR_PJRT_ARGS(PJRT_Buffer_ToHostBuffer_Args);
  args.src = buffer.get();
  args.dst = out.data();
  args.dst_size = out.size();
  HR_TRY_STATUS(check(api_.PJRT_Buffer_ToHostBuffer(&args), "read"));
  return wait(args.event, "read");
}

Result<std::vector<int64_t>> Client::sizes(const Buffer& buffer) const {
  auto args = HR_PJRT_ARGS(PJRT_Buffer_Dimensions_Args);
  args.buffer = buffer.get();
  HR_TRY_STATUS(check(api_.PJRT_Buffer_Dimensions(&args), "inspect a result"));
  return std::vector<int64_t>(args.dims, args.dims + args.num_dims);
}

Result<PJRT_Buffer_Type> Client::type(const Buffer& buffer) const {
  auto args = HR_PJRT_ARGS(PJRT_Buffer_ElementType_Args);
  args.buffer = buffer.get();
  HR_TRY_STATUS(check(api_.PJRT_Buffer_ElementType(&args), "inspect a result"));
  return args.type;
}

}  // namespace headrace::pjrt
