/* The same macro applied to each of several things: EACH(apply, with, a, b, ...), at most 40 of them. */
#ifndef STORE_ROWS_EACH_H
#define STORE_ROWS_EACH_H

#define EACH_1(apply, with, a) apply(with, a)
#define EACH_2(apply, with, a, ...) apply(with, a), EACH_1(apply, with, __VA_ARGS__)
#define EACH_3(apply, with, a, ...) apply(with, a), EACH_2(apply, with, __VA_ARGS__)
#define EACH_4(apply, with, a, ...) apply(with, a), EACH_3(apply, with, __VA_ARGS__)
#define EACH_5(apply, with, a, ...) apply(with, a), EACH_4(apply, with, __VA_ARGS__)
#define EACH_6(apply, with, a, ...) apply(with, a), EACH_5(apply, with, __VA_ARGS__)
#define EACH_7(apply, with, a, ...) apply(with, a), EACH_6(apply, with, __VA_ARGS__)
#define EACH_8(apply, with, a, ...) apply(with, a), EACH_7(apply, with, __VA_ARGS__)
#define EACH_9(apply, with, a, ...) apply(with, a), EACH_8(apply, with, __VA_ARGS__)
#define EACH_10(apply, with, a, ...) apply(with, a), EACH_9(apply, with, __VA_ARGS__)
#define EACH_11(apply, with, a, ...) apply(with, a), EACH_10(apply, with, __VA_ARGS__)
#define EACH_12(apply, with, a, ...) apply(with, a), EACH_11(apply, with, __VA_ARGS__)
#define EACH_13(apply, with, a, ...) apply(with, a), EACH_12(apply, with, __VA_ARGS__)
#define EACH_14(apply, with, a, ...) apply(with, a), EACH_13(apply, with, __VA_ARGS__)
#define EACH_15(apply, with, a, ...) apply(with, a), EACH_14(apply, with, __VA_ARGS__)
#define EACH_16(apply, with, a, ...) apply(with, a), EACH_15(apply, with, __VA_ARGS__)
#define EACH_17(apply, with, a, ...) apply(with, a), EACH_16(apply, with, __VA_ARGS__)
#define EACH_18(apply, with, a, ...) apply(with, a), EACH_17(apply, with, __VA_ARGS__)
#define EACH_19(apply, with, a, ...) apply(with, a), EACH_18(apply, with, __VA_ARGS__)
#define EACH_20(apply, with, a, ...) apply(with, a), EACH_19(apply, with, __VA_ARGS__)
#define EACH_21(apply, with, a, ...) apply(with, a), EACH_20(apply, with, __VA_ARGS__)
#define EACH_22(apply, with, a, ...) apply(with, a), EACH_21(apply, with, __VA_ARGS__)
#define EACH_23(apply, with, a, ...) apply(with, a), EACH_22(apply, with, __VA_ARGS__)
#define EACH_24(apply, with, a, ...) apply(with, a), EACH_23(apply, with, __VA_ARGS__)
#define EACH_25(apply, with, a, ...) apply(with, a), EACH_24(apply, with, __VA_ARGS__)
#define EACH_26(apply, with, a, ...) apply(with, a), EACH_25(apply, with, __VA_ARGS__)
#define EACH_27(apply, with, a, ...) apply(with, a), EACH_26(apply, with, __VA_ARGS__)
#define EACH_28(apply, with, a, ...) apply(with, a), EACH_27(apply, with, __VA_ARGS__)
#define EACH_29(apply, with, a, ...) apply(with, a), EACH_28(apply, with, __VA_ARGS__)
#define EACH_30(apply, with, a, ...) apply(with, a), EACH_29(apply, with, __VA_ARGS__)
#define EACH_31(apply, with, a, ...) apply(with, a), EACH_30(apply, with, __VA_ARGS__)
#define EACH_32(apply, with, a, ...) apply(with, a), EACH_31(apply, with, __VA_ARGS__)
#define EACH_33(apply, with, a, ...) apply(with, a), EACH_32(apply, with, __VA_ARGS__)
#define EACH_34(apply, with, a, ...) apply(with, a), EACH_33(apply, with, __VA_ARGS__)
#define EACH_35(apply, with, a, ...) apply(with, a), EACH_34(apply, with, __VA_ARGS__)
#define EACH_36(apply, with, a, ...) apply(with, a), EACH_35(apply, with, __VA_ARGS__)
#define EACH_37(apply, with, a, ...) apply(with, a), EACH_36(apply, with, __VA_ARGS__)
#define EACH_38(apply, with, a, ...) apply(with, a), EACH_37(apply, with, __VA_ARGS__)
#define EACH_39(apply, with, a, ...) apply(with, a), EACH_38(apply, with, __VA_ARGS__)
#define EACH_40(apply, with, a, ...) apply(with, a), EACH_39(apply, with, __VA_ARGS__)
#define EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, \
                  _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38,  \
                  _39, _40, name, ...)                                                                       \
    name
#define EACH_NAME(...)                                                                                       \
    EACH_PICK(__VA_ARGS__, EACH_40, EACH_39, EACH_38, EACH_37, EACH_36, EACH_35, EACH_34, EACH_33, EACH_32,  \
              EACH_31, EACH_30, EACH_29, EACH_28, EACH_27, EACH_26, EACH_25, EACH_24, EACH_23, EACH_22,      \
              EACH_21, EACH_20, EACH_19, EACH_18, EACH_17, EACH_16, EACH_15, EACH_14, EACH_13, EACH_12,      \
              EACH_11, EACH_10, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, 0)
#define EACH_COUNT(...)                                                                                      \
    EACH_PICK(__VA_ARGS__, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,   \
              20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define EACH(apply, with, ...) EACH_NAME(__VA_ARGS__)(apply, with, __VA_ARGS__)

#endif
