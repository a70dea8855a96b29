// SPDX-License-Identifier: Apache-2.0
// The one source of the targets that hold precompiled headers (cmake/NereidPrecompiled.cmake).
namespace nereid {}
