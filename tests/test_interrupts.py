from topicfocus.interrupts import is_interrupt


def test_an_error_that_was_raised_from_itself_is_no_interrupt():
    error = ValueError("a count of 1e90")
    error.__cause__ = error
    assert not is_interrupt(error)


def test_an_interrupt_inside_another_error_is_found():
    error = SystemError("numba")
    error.__cause__ = KeyboardInterrupt()
    assert is_interrupt(error)
