# SPDX-License-Identifier: BSD-2-Clause
"""What every echo server on a board does, whatever kernel it stands on: tests of a fixture `echo`, the machine."""
import random

from boards import exchange, read


def test_every_byte_comes_back(echo):
    data = random.Random(9).randbytes(200_000)
    with echo.connect(7) as connection:
        assert exchange(connection, data) == data


def test_three_at_once(echo):
    connections = [echo.connect(7) for _ in range(3)]
    for number, connection in enumerate(connections):
        connection.sendall(bytes([number]) * 100)
    for number, connection in reversed(list(enumerate(connections))):
        assert read(connection, 100) == bytes([number]) * 100
        connection.close()


def test_connections_one_after_another(echo):
    for number in range(20):
        with echo.connect(7) as connection:
            assert exchange(connection, b"%d" % number) == b"%d" % number
