#include "passes/node_maker.h"

namespace headrace {

namespace {

template <class T>
T take(Result<T> result) {
  if (!result) throw UserError(std::move(result).error());
  return *std::move(result);
}

}  // namespace

ValueId NodeMaker::make(const OpDef& op, std::vector<ValueId> operands, std::vector<Attr> attrs,
                        std::vector<GraphPtr> regions) {
  return take(builder_.add(op, std::move(operands), std::move(attrs), std::move(regions)));
}

ValueId NodeMaker::scalar(DType dtype, double value) {
  return make(ops::kConstant, {}, {Literal::filled(dtype, {}, value)});
}

ValueId NodeMaker::reshape(ValueId x, Shape shape) {
  return type(x).shape == shape ? x : make(ops::kReshape, {x}, {std::move(shape)});
}

ValueId NodeMaker::transpose(ValueId x, std::vector<int64_t> permutation) {
  return make(ops::kTranspose, {x}, {std::move(permutation)});
}

ValueId NodeMaker::broadcast(ValueId x, Shape shape, std::vector<int64_t> dims) {
  return type(x).shape == shape ? x : make(ops::kBroadcastInDim, {x}, {std::move(shape), std::move(dims)});
}

ValueId NodeMaker::filled(ValueId like, double value) {
  const Type wanted = type(like);
  return broadcast(scalar(wanted.dtype, value), wanted.shape, {});
}

ValueId NodeMaker::convert(ValueId x, DType dtype) {
  return type(x).dtype == dtype ? x : make(ops::kConvert, {x}, {dtype});
}

ValueId NodeMaker::compare(ValueId a, std::string direction, ValueId b) {
  return make(ops::kCompare, {a, b}, {std::move(direction)});
}

ValueId NodeMaker::reduce(const OpDef& op, ValueId x, std::vector<int64_t> dims, double start) {
  const DType dtype = type(x).dtype;
  GraphBuilder body;
  const ValueId acc = body.input({.dtype = dtype, .shape = {}});
  const ValueId element = body.input({.dtype = dtype, .shape = {}});
  const ValueId both = take(body.add(op, {acc, element}));
  GraphPtr region = take(std::move(body).finish({both}));
  return make(ops::kReduce, {x, scalar(dtype, start)}, {int64_t{1}, std::move(dims)}, {std::move(region)});
}

}  // namespace headrace
