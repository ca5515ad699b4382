import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_layers import check_file, circles, idle


def faults(name, text):
    return [message for _, message in check_file(name, text, {"compressor/values/slice.hpp"})]


class CheckLayers(unittest.TestCase):
    def test_arrows_down_and_within_a_room_are_allowed(self):
        for name, header in (
            ("src/compressor/frame/codec.hpp", "compressor/values/slice.hpp"),
            ("src/compressor/codecs/planes/codec.cpp", "compressor/codecs/planes/format/block.hpp"),
            ("src/communication/algorithms/ring.cpp", "communication/algorithms/ring.hpp"),
            ("src/communication/comm/communicator.cpp", "communication/policy/plan/plan.hpp"),
            ("src/communication/api/messages/comm_endpoint.hpp", "communication/p2p/endpoint.hpp"),
            ("src/communication/p2p/mpi_message.hpp", "communication/mpi/pmpi_counts.hpp"),
            ("src/cli/info.cpp", "compressor/file/array.hpp"),
            ("src/cli/advise.cpp", "communication/policy/plan/cost_model.hpp"),
            ("src/compressor/values/reduction.cpp", "compressor/simd/kernel_choice.hpp"),
        ):
            self.assertEqual(faults(name, f'#include "{header}"\n'), [], name)

    def test_arrows_back_and_sideways_are_faults(self):
        for name, header in (
            ("src/compressor/frame/codec.hpp", "compressor/codecs/planes/format/block.hpp"),
            ("src/compressor/codecs/raw/codec.cpp", "compressor/codecs/planes/format/block.hpp"),
            ("src/compressor/codecs/registry.cpp", "communication/algorithms/ring.hpp"),
            ("src/compressor/hdf5/chunk.cpp", "cli/command.hpp"),
            ("src/communication/algorithms/ring.cpp", "communication/transports/mpi.hpp"),
            ("src/communication/policy/plan/plan.cpp", "communication/comm/communicator.hpp"),
            ("src/communication/p2p/endpoint.cpp", "communication/api/state/comm_state.hpp"),
            ("src/communication/mpi/datatype_layout.cpp", "communication/p2p/mpi_message.hpp"),
            ("src/cli/info.cpp", "compressor/new_room/a.hpp"),
        ):
            self.assertEqual(len(faults(name, f'#include "{header}"\n')), 1, name)

    def test_the_communication_includes_listed_headers_of_the_compressor_only(self):
        self.assertEqual(faults("src/communication/team/blocks.hpp", '#include "compressor/values/slice.hpp"\n'), [])
        self.assertEqual(len(faults("src/communication/team/blocks.hpp", '#include "compressor/values/bound.hpp"\n')), 1)

    def test_a_listed_header_is_included_somewhere(self):
        half, slice_ = "compressor/values/half.hpp", "compressor/values/slice.hpp"
        includes = [("communication/team/blocks.hpp", slice_), ("cli/info.cpp", half)]
        self.assertEqual(idle({half, slice_}, includes), [half])

    def test_confined_headers_and_calls(self):
        for text, right, wrong in (
            ("#include <mpi.h>", "src/communication/transports/mpi.hpp", "src/communication/comm/agree.cpp"),
            ("#include <taut/taut.h>", "src/communication/api/c.cpp", "src/compressor/base/status.cpp"),
            ("#include <nccl.h>", "examples/gpu/nccl_sum.cpp", "src/communication/nccl/library.cpp"),
            ("#include <nccl.h>", "tests/gpu/real/instead/gpu/nccl/fake/nccl.h", "tests/gpu/nccl/calls.hpp"),
            ("#include <cuda_runtime.h>", "src/compressor/gpu/place.cu", "src/communication/team/place.cpp"),
            ("#include <immintrin.h>", "src/compressor/codecs/planes/kernels/avx512/planes.hpp", "src/compressor/codecs/planes/kernels/kernel_set.hpp"),
            ('auto x = std::getenv("X");', "tools/gpu/check.cu", "src/compressor/base/options.cpp"),
            ('auto x = secure_getenv("X");', "src/communication/preload/preload.c", "src/communication/comm/communicator.cpp"),
            ("auto** x = environ;", "src/compressor/base/options.cpp", "src/communication/nccl/call.cpp"),
            ("#include <arm_neon.h>", "src/compressor/simd/neon.hpp", "src/compressor/codecs/szx/kernel_set.hpp"),
        ):
            self.assertEqual(faults(right, text), [], right)
            self.assertEqual(len(faults(wrong, text)), 1, wrong)

    def test_folders_of_a_codec_that_include_each_other_are_told(self):
        down = [("compressor/codecs/a/x/one.hpp", "compressor/codecs/a/y/two.hpp"), ("compressor/codecs/a/y/two.hpp", "compressor/codecs/a/z/three.hpp")]
        self.assertEqual(list(circles(down)), [])
        back = [*down, ("compressor/codecs/a/z/three.hpp", "compressor/codecs/a/x/four.hpp")]
        self.assertEqual(list(circles(back)), [("compressor/codecs/a/x", "compressor/codecs/a/y"), ("compressor/codecs/a/y", "compressor/codecs/a/z"), ("compressor/codecs/a/z", "compressor/codecs/a/x")])

    def test_comments_are_not_code(self):
        self.assertEqual(faults("src/communication/team/team.cpp", '// #include <mpi.h>\n/* getenv\n#include "communication/api/c.hpp" */\n'), [])

    def test_the_line_is_told(self):
        found = list(check_file("src/communication/team/team.cpp", "/* two\nlines */\n#include <mpi.h>\n"))
        self.assertEqual([line for line, _ in found], [3])


if __name__ == "__main__":
    unittest.main()
