RIGHT = {}
WRONG = {}
TOLD = {}
PASSED_ONCE = []
