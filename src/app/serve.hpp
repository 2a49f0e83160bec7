#pragma once

namespace welkin::app {

/// `welkin serve`: builds the server, runs it until a signal, takes it apart. @return the exit code
int serve();

}  // namespace welkin::app
