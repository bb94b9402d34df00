module @"" {
  func.func public @abs_0(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @abs_1(%arg0: tensor<4xi32> loc("a0")) -> tensor<4xi32> {
    %0 = stablehlo.abs %arg0 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @abs_2(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.abs %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @ceil_3(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.ceil %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @ceil_4(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.ceil %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @cosine_5(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.cosine %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @cosine_6(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.cosine %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @exponential_7(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @exponential_8(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.exponential %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @floor_9(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.floor %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @floor_10(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.floor %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @log_11(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.log %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @log_12(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.log %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @logistic_13(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.logistic %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @logistic_14(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.logistic %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @negate_15(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @negate_16(%arg0: tensor<4xi32> loc("a0")) -> tensor<4xi32> {
    %0 = stablehlo.negate %arg0 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @negate_17(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @not_18(%arg0: tensor<4xi32> loc("a0")) -> tensor<4xi32> {
    %0 = stablehlo.not %arg0 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @not_19(%arg0: tensor<i1> loc("a0")) -> tensor<i1> {
    %0 = stablehlo.not %arg0 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @round_nearest_even_20(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @round_nearest_even_21(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @rsqrt_22(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.rsqrt %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @rsqrt_23(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.rsqrt %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @sign_24(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.sign %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @sign_25(%arg0: tensor<4xi32> loc("a0")) -> tensor<4xi32> {
    %0 = stablehlo.sign %arg0 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @sign_26(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.sign %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @sine_27(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.sine %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @sine_28(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.sine %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @sqrt_29(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.sqrt %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @sqrt_30(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.sqrt %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @tanh_31(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @tanh_32(%arg0: tensor<5xbf16> loc("a0")) -> tensor<5xbf16> {
    %0 = stablehlo.tanh %arg0 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @add_33(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @add_34(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @add_35(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @add_36(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @and_37(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.and %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @and_38(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.and %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @divide_39(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @divide_40(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @divide_41(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @maximum_42(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @maximum_43(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @maximum_44(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @maximum_45(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @minimum_46(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @minimum_47(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @minimum_48(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @minimum_49(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @multiply_50(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @multiply_51(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @multiply_52(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @multiply_53(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @or_54(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.or %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @or_55(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.or %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @power_56(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.power %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @power_57(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.power %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @power_58(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.power %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @remainder_59(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.remainder %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @remainder_60(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.remainder %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @remainder_61(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.remainder %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @shift_left_62(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.shift_left %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @shift_right_arithmetic_63(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @shift_right_logical_64(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @subtract_65(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1")) -> tensor<2x3xf32> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @subtract_66(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @subtract_67(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1")) -> tensor<5xbf16> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @xor_68(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1")) -> tensor<4xi32> {
    %0 = stablehlo.xor %arg0, %arg1 : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @xor_69(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<i1> {
    %0 = stablehlo.xor %arg0, %arg1 : tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @clamp_70(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1"), %arg2: tensor<2x3xf32> loc("a2")) -> tensor<2x3xf32> {
    %0 = stablehlo.clamp %arg0, %arg1, %arg2 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @clamp_71(%arg0: tensor<4xi32> loc("a0"), %arg1: tensor<4xi32> loc("a1"), %arg2: tensor<4xi32> loc("a2")) -> tensor<4xi32> {
    %0 = stablehlo.clamp %arg0, %arg1, %arg2 : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func public @clamp_72(%arg0: tensor<5xbf16> loc("a0"), %arg1: tensor<5xbf16> loc("a1"), %arg2: tensor<5xbf16> loc("a2")) -> tensor<5xbf16> {
    %0 = stablehlo.clamp %arg0, %arg1, %arg2 : (tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<5xbf16>
    return %0 : tensor<5xbf16>
  }
  func.func public @select_73(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i1> loc("a1"), %arg2: tensor<i1> loc("a2")) -> tensor<i1> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i1>
    return %0 : tensor<i1>
  }
  func.func public @clamp_74(%arg0: tensor<f32> loc("a0"), %arg1: tensor<2x3xf32> loc("a1"), %arg2: tensor<f32> loc("a2")) -> tensor<2x3xf32> {
    %0 = stablehlo.clamp %arg0, %arg1, %arg2 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @select_75(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xf32> loc("a1"), %arg2: tensor<2xf32> loc("a2")) -> tensor<2xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2xi1>, tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @select_76(%arg0: tensor<i1> loc("a0"), %arg1: tensor<2xf32> loc("a1"), %arg2: tensor<2xf32> loc("a2")) -> tensor<2xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @compare_77(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<2xf32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_78(%arg0: tensor<2xi32> loc("a0"), %arg1: tensor<2xi32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_79(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xi1> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_80(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<2xf32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_81(%arg0: tensor<2xi32> loc("a0"), %arg1: tensor<2xi32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_82(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xi1> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare NE, %arg0, %arg1, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_83(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<2xf32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_84(%arg0: tensor<2xi32> loc("a0"), %arg1: tensor<2xi32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_85(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xi1> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_86(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<2xf32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_87(%arg0: tensor<2xi32> loc("a0"), %arg1: tensor<2xi32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_88(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xi1> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare LE, %arg0, %arg1, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_89(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<2xf32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_90(%arg0: tensor<2xi32> loc("a0"), %arg1: tensor<2xi32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_91(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xi1> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_92(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<2xf32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_93(%arg0: tensor<2xi32> loc("a0"), %arg1: tensor<2xi32> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare GE, %arg0, %arg1, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @compare_94(%arg0: tensor<2xi1> loc("a0"), %arg1: tensor<2xi1> loc("a1")) -> tensor<2xi1> {
    %0 = stablehlo.compare GE, %arg0, %arg1, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
    return %0 : tensor<2xi1>
  }
  func.func public @optimization_barrier_95(%arg0: tensor<2xf32> loc("a0"), %arg1: tensor<i32> loc("a1")) -> (tensor<2xf32>, tensor<i32>) {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<2xf32>, tensor<i32>
    return %0#0, %0#1 : tensor<2xf32>, tensor<i32>
  }
  func.func public @convert_96(%arg0: tensor<2xf32> loc("a0")) -> tensor<2xi8> {
    %0 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi8>
    return %0 : tensor<2xi8>
  }
  func.func public @convert_97(%arg0: tensor<2xi1> loc("a0")) -> tensor<2xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2xi1>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @bitcast_convert_98(%arg0: tensor<2xf32> loc("a0")) -> tensor<2xi32> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func public @bitcast_convert_99(%arg0: tensor<3x2xi8> loc("a0")) -> tensor<3xf16> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x2xi8>) -> tensor<3xf16>
    return %0 : tensor<3xf16>
  }
  func.func public @bitcast_convert_100(%arg0: tensor<3xi32> loc("a0")) -> tensor<3x4xi8> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3xi32>) -> tensor<3x4xi8>
    return %0 : tensor<3x4xi8>
  }
  func.func public @constant_101() -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.00000001e-01> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @constant_102() -> tensor<2x2xi32> {
    %0 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>
    return %0 : tensor<2x2xi32>
  }
  func.func public @iota_103(%arg0: tensor<?xf32> loc("a0")) -> tensor<2x3xi32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
  func.func public @broadcast_in_dim_104(%arg0: tensor<3x1xf32> loc("a0")) -> tensor<2x3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
  func.func public @broadcast_in_dim_105(%arg0: tensor<f32> loc("a0")) -> tensor<2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @reshape_106(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<6xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func public @transpose_107(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<3x2xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
  func.func public @slice_108(%arg0: tensor<4x9xf32> loc("a0")) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %arg0 [1:3, 0:9:4] : (tensor<4x9xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func public @slice_109(%arg0: tensor<f32> loc("a0")) -> tensor<f32> {
    %0 = stablehlo.slice %arg0 [] : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func public @concatenate_110(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x4xf32> loc("a1")) -> tensor<2x7xf32> {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    return %0 : tensor<2x7xf32>
  }
  func.func public @pad_111(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<3x6xf32> {
    %0 = stablehlo.pad %arg0, %arg1, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
    return %0 : tensor<3x6xf32>
  }
  func.func public @get_dimension_size_112(%arg0: tensor<2x3xf32> loc("a0")) -> tensor<i32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func public @dot_general_113(%arg0: tensor<2x3x4xf32> loc("a0"), %arg1: tensor<2x5x4xf32> loc("a1")) -> tensor<2x3x5xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32>
  }
  func.func public @dot_general_114(%arg0: tensor<3x4xf32> loc("a0"), %arg1: tensor<5x4xf32> loc("a1")) -> tensor<3x5xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func public @dot_general_115(%arg0: tensor<3xf32> loc("a0"), %arg1: tensor<5xf32> loc("a1")) -> tensor<3x5xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [] : (tensor<3xf32>, tensor<5xf32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func public @dot_general_116(%arg0: tensor<3x4xbf16> loc("a0"), %arg1: tensor<5x4xbf16> loc("a1")) -> tensor<3x5xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<3x4xbf16>, tensor<5x4xbf16>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func public @dynamic_slice_117(%arg0: tensor<4x5xf32> loc("a0"), %arg1: tensor<i32> loc("a1"), %arg2: tensor<i32> loc("a2")) -> tensor<1x5xf32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [1, 5] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
    return %0 : tensor<1x5xf32>
  }
  func.func public @dynamic_update_slice_118(%arg0: tensor<4x5xf32> loc("a0"), %arg1: tensor<1x2xf32> loc("a1"), %arg2: tensor<i32> loc("a2"), %arg3: tensor<i32> loc("a3")) -> tensor<4x5xf32> {
    %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg3 : (tensor<4x5xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
  func.func public @gather_119(%arg0: tensor<6x4xf32> loc("a0"), %arg1: tensor<2x3xi32> loc("a1")) -> tensor<2x3x4xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
  func.func public @gather_120(%arg0: tensor<6x4xf32> loc("a0"), %arg1: tensor<5x2xi32> loc("a1")) -> tensor<5xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x4xf32>, tensor<5x2xi32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
  func.func public @reduce_121(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<2xf32> {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @reduce_122(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<2xf32> {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @reduce_123(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<2xf32> {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @reduce_124(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<2xf32> {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @reduce_125(%arg0: tensor<2x3xi1> loc("a0"), %arg1: tensor<i1> loc("a1")) -> tensor<3xi1> {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.or across dimensions = [0] : (tensor<2x3xi1>, tensor<i1>) -> tensor<3xi1>
    return %0 : tensor<3xi1>
  }
  func.func public @reduce_126(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<2x3xi32> loc("a1"), %arg2: tensor<f32> loc("a2"), %arg3: tensor<i32> loc("a3")) -> (tensor<2xf32>, tensor<2xi32>) {
    %7:2 = "stablehlo.reduce"(%arg0, %arg1, %arg2, %arg3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%0: tensor<f32>, %1: tensor<i32>, %2: tensor<f32>, %3: tensor<i32>):
      %4 = stablehlo.compare GT, %2, %0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.select %4, %2, %0 : tensor<i1>, tensor<f32>
      %6 = stablehlo.select %4, %3, %1 : tensor<i1>, tensor<i32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
    }) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    return %7#0, %7#1 : tensor<2xf32>, tensor<2xi32>
  }
  func.func public @reduce_127(%arg0: tensor<2x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1"), %arg2: tensor<f32> loc("a2")) -> tensor<2xf32> {
    %3 = "stablehlo.reduce"(%arg0, %arg1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%0: tensor<f32>, %1: tensor<f32>):
      %2 = stablehlo.clamp %0, %1, %arg2 : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %3 : tensor<2xf32>
  }
  func.func public @if_128(%arg0: tensor<i1> loc("a0"), %arg1: tensor<i32> loc("a1"), %arg2: tensor<i32> loc("a2")) -> tensor<i32> {
    %2 = "stablehlo.if"(%arg0) ({
    ^bb0():
      %0 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %0 : tensor<i32>
    }, {
    ^bb0():
      %1 = stablehlo.subtract %arg1, %arg2 : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    return %2 : tensor<i32>
  }
  func.func public @while_129(%arg0: tensor<i32> loc("a0"), %arg1: tensor<i32> loc("a1")) -> tensor<i32> {
    %4 = "stablehlo.while"(%arg0) ({
    ^bb0(%0: tensor<i32>):
      %1 = stablehlo.compare LT, %0, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%2: tensor<i32>):
      %3 = stablehlo.multiply %2, %arg1 : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    return %4 : tensor<i32>
  }
  func.func private @private.add_130(%arg0: tensor<i32> loc("a0"), %arg1: tensor<i32> loc("a1")) -> tensor<i32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func public @call_131(%arg0: tensor<i32> loc("a0"), %arg1: tensor<i32> loc("a1")) -> tensor<i32> {
    %0 = func.call @private.add_130(%arg0, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func public @iota_132(%arg0: tensor<?xf32> loc("a0")) -> tensor<2x?xi32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.constant dense<2> : tensor<1xi32>
    %2 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_iota %3, dim = 1 : (tensor<2xi32>) -> tensor<2x?xi32>
    return %4 : tensor<2x?xi32>
  }
  func.func public @iota_133(%arg0: tensor<?xf32> loc("a0")) -> tensor<?xi32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.multiply %0, %1 : tensor<i32>
    %3 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %2, %3 : tensor<i32>
    %5 = stablehlo.reshape %4 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.dynamic_iota %5, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    return %6 : tensor<?xi32>
  }
  func.func public @broadcast_in_dim_134(%arg0: tensor<1x?x3xf32> loc("a0")) -> tensor<4x2x?x3xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<1x?x3xf32>) -> tensor<i32>
    %1 = stablehlo.constant dense<[4, 2]> : tensor<2xi32>
    %2 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.constant dense<3> : tensor<1xi32>
    %4 = stablehlo.concatenate %1, %2, %3, dim = 0 : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %5 = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %4) <{broadcast_dimensions = array<i64: 1, 2, 3>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1, 2>}> : (tensor<1x?x3xf32>, tensor<4xi32>) -> tensor<4x2x?x3xf32>
    return %5 : tensor<4x2x?x3xf32>
  }
  func.func public @broadcast_in_dim_135(%arg0: tensor<1x?xf32> loc("a0")) -> tensor<?x?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<1x?xf32>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %3) <{broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>}> : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %4 : tensor<?x?xf32>
  }
  func.func public @slice_136(%arg0: tensor<1x?x8xf32> loc("a0")) -> tensor<1x?x4xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<1x?x8xf32>) -> tensor<i32>
    %1 = stablehlo.constant dense<[0, 0, 1]> : tensor<3xi32>
    %2 = stablehlo.constant dense<1> : tensor<1xi32>
    %3 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.constant dense<8> : tensor<1xi32>
    %5 = stablehlo.concatenate %2, %3, %4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %6 = stablehlo.constant dense<[1, 1, 2]> : tensor<3xi32>
    %7 = stablehlo.real_dynamic_slice %arg0, %1, %5, %6 : (tensor<1x?x8xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    return %7 : tensor<1x?x4xf32>
  }
  func.func public @transpose_137(%arg0: tensor<2x?xf32> loc("a0")) -> tensor<?x2xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x?xf32>) -> tensor<?x2xf32>
    return %1 : tensor<?x2xf32>
  }
  func.func public @concatenate_138(%arg0: tensor<2x?xf32> loc("a0"), %arg1: tensor<2x?xf32> loc("a1")) -> tensor<2x?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
    %1 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
    return %1 : tensor<2x?xf32>
  }
  func.func public @pad_139(%arg0: tensor<2x?xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<2x?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
    %1 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<2x?xf32>
    return %1 : tensor<2x?xf32>
  }
  func.func public @get_dimension_size_140(%arg0: tensor<2x?xf32> loc("a0")) -> tensor<i32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func public @convert_141(%arg0: tensor<?xf32> loc("a0")) -> tensor<?xi32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %arg0 : (tensor<?xf32>) -> tensor<?xi32>
    return %1 : tensor<?xi32>
  }
  func.func public @add_142(%arg0: tensor<?xf32> loc("a0"), %arg1: tensor<?xf32> loc("a1")) -> tensor<?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.add %arg0, %arg1 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func public @compare_143(%arg0: tensor<?xf32> loc("a0"), %arg1: tensor<?xf32> loc("a1")) -> tensor<?xi1> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
    return %1 : tensor<?xi1>
  }
  func.func public @select_144(%arg0: tensor<?xi1> loc("a0"), %arg1: tensor<?xf32> loc("a1"), %arg2: tensor<?xf32> loc("a2")) -> tensor<?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xi1>) -> tensor<i32>
    %1 = stablehlo.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func public @dot_general_145(%arg0: tensor<1x?x4xf32> loc("a0"), %arg1: tensor<1x5x4xf32> loc("a1")) -> tensor<1x?x5xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<1x?x4xf32>) -> tensor<i32>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x?x4xf32>, tensor<1x5x4xf32>) -> tensor<1x?x5xf32>
    return %1 : tensor<1x?x5xf32>
  }
  func.func public @dot_general_146(%arg0: tensor<1x3x2x?x4xf32> loc("a0"), %arg1: tensor<1x3x?x4xf32> loc("a1")) -> tensor<1x3x2x?x?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 3 : (tensor<1x3x2x?x4xf32>) -> tensor<i32>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [3] : (tensor<1x3x2x?x4xf32>, tensor<1x3x?x4xf32>) -> tensor<1x3x2x?x?xf32>
    return %1 : tensor<1x3x2x?x?xf32>
  }
  func.func public @gather_147(%arg0: tensor<6x4xf32> loc("a0"), %arg1: tensor<2x?xi32> loc("a1")) -> tensor<2x?x4xf32> {
    %0 = stablehlo.get_dimension_size %arg1, dim = 1 : (tensor<2x?xi32>) -> tensor<i32>
    %1 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<2x?xi32>) -> tensor<2x?x4xf32>
    return %1 : tensor<2x?x4xf32>
  }
  func.func public @reduce_148(%arg0: tensor<?x3xf32> loc("a0"), %arg1: tensor<f32> loc("a1")) -> tensor<3xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
