import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_layers import check_file


def faults(name, text):
    return [message for _, message in check_file(name, text)]


class CheckLayers(unittest.TestCase):
    def test_arrows_down_and_within_a_part_are_allowed(self):
        for name, header in (
            ("src/core/team.cpp", "core/codec.hpp"),
            ("src/algorithms/ring.cpp", "algorithms/ring.hpp"),
            ("src/codecs/planes/codec.cpp", "codecs/planes/format/block.hpp"),
            ("src/comm/communicator.cpp", "policy/plan/plan.hpp"),
            ("src/api/c.cpp", "transports/mpi.hpp"),
            ("src/api/messages/messages.hpp", "p2p/endpoint.hpp"),
            ("src/p2p/send.hpp", "api/args/pmpi_counts.hpp"),
        ):
            self.assertEqual(faults(name, f'#include "{header}"\n'), [], name)

    def test_arrows_back_and_sideways_are_faults(self):
        for name, header in (
            ("src/core/team.cpp", "codecs/planes/format/block.hpp"),
            ("src/algorithms/ring.cpp", "transports/mpi.hpp"),
            ("src/codecs/raw/codec.cpp", "codecs/planes/format/block.hpp"),
            ("src/codecs/registry.cpp", "algorithms/ring.hpp"),
            ("src/policy/plan/plan.cpp", "comm/communicator.hpp"),
            ("src/comm/communicator.cpp", "api/errors.hpp"),
            ("src/p2p/shared_message_coder.cpp", "api/state/comm_state.hpp"),
            ("src/api/args/datatype_layout.cpp", "p2p/send.hpp"),
        ):
            self.assertEqual(len(faults(name, f'#include "{header}"\n')), 1, name)

    def test_confined_headers_and_calls(self):
        for text, right, wrong in (
            ("#include <mpi.h>", "src/transports/mpi.hpp", "src/comm/agree.cpp"),
            ("#include <taut/taut.h>", "src/api/c.cpp", "src/core/status.cpp"),
            ("#include <nccl.h>", "examples/gpu/nccl_sum.cpp", "src/nccl/library.cpp"),
            ("#include <nccl.h>", "tests/gpu/real/instead/gpu/nccl/fake/nccl.h", "tests/gpu/nccl/calls.hpp"),
            ("#include <cuda_runtime.h>", "src/gpu/place.cu", "src/core/place.cpp"),
            ("#include <immintrin.h>", "src/codecs/planes/kernels/avx512/planes.hpp", "src/codecs/planes/kernels/scalar.cpp"),
            ('auto x = std::getenv("X");', "tools/gpu/check.cu", "src/policy/text/options.cpp"),
            ('auto x = secure_getenv("X");', "src/preload/preload.c", "src/comm/communicator.cpp"),
            ("auto** x = environ;", "src/policy/text/options.cpp", "src/nccl/call.cpp"),
        ):
            self.assertEqual(faults(right, text), [], right)
            self.assertEqual(len(faults(wrong, text)), 1, wrong)

    def test_comments_are_not_code(self):
        self.assertEqual(faults("src/core/team.cpp", '// #include <mpi.h>\n/* getenv\n#include "api/c.hpp" */\n'), [])

    def test_the_line_is_told(self):
        found = list(check_file("src/core/team.cpp", "/* two\nlines */\n#include <mpi.h>\n"))
        self.assertEqual([line for line, _ in found], [3])


if __name__ == "__main__":
    unittest.main()
