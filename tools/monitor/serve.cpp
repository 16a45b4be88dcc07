// SPDX-License-Identifier: Apache-2.0
#include "tools/monitor/serve.hpp"

#include <chrono>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <poll.h>

namespace hbf::tools::monitor {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

http::response<http::string_body> answer(const http::request<http::string_body> &request, const Serving &serving) {
    http::response<http::string_body> response;
    response.version(request.version());
    response.keep_alive(false);
    const bool reads = request.method() == http::verb::get || request.method() == http::verb::head;
    if (!reads) {
        response.result(http::status::method_not_allowed);
        response.set(http::field::allow, "GET, HEAD");
    } else if (request.target() == "/metrics") {
        response.result(http::status::ok);
        response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
        response.body() = serving.metrics();
    } else {
        response.result(http::status::not_found);
        response.set(http::field::content_type, "text/plain");
        response.body() = "metrics are at /metrics\n";
    }
    response.prepare_payload();
    if (request.method() == http::verb::head) response.body().clear();
    return response;
}

// Asynchronous calls, for those alone keep a deadline; run() ends with the last of them.
void talk(boost::asio::io_context &context, tcp::socket socket, const Serving &serving) {
    boost::beast::tcp_stream stream(std::move(socket));
    boost::beast::flat_buffer buffer(16 * 1024);
    http::request_parser<http::string_body> parser;
    parser.body_limit(4096);
    parser.header_limit(8192);
    http::response<http::string_body> response;
    stream.expires_after(std::chrono::seconds(1));
    http::async_read(stream, buffer, parser, [&](const error_code &error, size_t) {
        if (error) return; // whoever sends no request gets no answer
        response = answer(parser.get(), serving);
        stream.expires_after(std::chrono::seconds(1));
        http::async_write(stream, response, [](const error_code &, size_t) {});
    });
    context.run();
    context.restart();
    error_code error;
    stream.socket().shutdown(tcp::socket::shutdown_both, error);
}

Error refused(const std::string &where, const error_code &error) {
    const Code code = error == boost::system::errc::permission_denied ? Code::permission : Code::exhausted;
    return {code, fmt::format("{}: {}", where, error.message())};
}

} // namespace

Result<> serve_metrics(const Serving &serving) {
    error_code error;
    const auto address = boost::asio::ip::make_address(serving.address, error);
    if (error) return tl::unexpected(Error{Code::invalid, fmt::format("'{}' is no IP address", serving.address)});
    const tcp::endpoint at(address, serving.port);
    const auto shown = [](const tcp::endpoint &point) {
        const auto host = point.address().to_string();
        return fmt::format("{}:{}", point.address().is_v6() ? "[" + host + "]" : host, point.port());
    };
    boost::asio::io_context context;
    tcp::acceptor acceptor(context);
    acceptor.open(at.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(at, error);
    if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error) return tl::unexpected(refused(shown(at), error));
    const auto bound = acceptor.local_endpoint(error);
    serving.ready("http://" + shown(bound) + "/metrics");
    while (!serving.stop()) {
        pollfd wait{acceptor.native_handle(), POLLIN, 0};
        if (::poll(&wait, 1, 100) <= 0) continue;
        tcp::socket socket(context);
        acceptor.accept(socket, error);
        if (!error) talk(context, std::move(socket), serving);
    }
    return {};
}

} // namespace hbf::tools::monitor
