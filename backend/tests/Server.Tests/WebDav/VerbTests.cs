using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Handlers;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Verbs supported by each path, and the rejection of all others.</summary>
public sealed class VerbTests : IAsyncLifetime
{
    private DavTestServer _server = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartAsync();
        _server.Store.Root.Add(new MemoryFile("file.mkv", [1]));
        _server.Store.Root.Add(new MemoryCollection("folder"));
        _server.Store.Root.Add(new MemoryCollection("fixed")).Add(new MemoryFile("file.mkv", [1]));
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Theory]
    [InlineData("/file.mkv", "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE")]
    [InlineData("/new.mkv", "OPTIONS, PUT")]
    [InlineData("/folder", "OPTIONS, PROPFIND")]
    [InlineData("/fixed/file.mkv", "OPTIONS, GET, HEAD, PROPFIND")]
    [InlineData("/fixed/new.mkv", "OPTIONS")]
    [InlineData("/", "OPTIONS, GET, HEAD, PROPFIND")]
    [InlineData("*", "OPTIONS, GET, HEAD, PROPFIND")]
    public async Task OPTIONS_lists_exactly_the_verbs_allowed_on_the_path(string path, string allow)
    {
        var answer = await _server.SendAsync("OPTIONS " + path);

        Assert.Equal(200, answer.Status);
        Assert.Equal(allow, answer["Allow"]);
        Assert.Equal("1", answer["DAV"]);
        Assert.Equal("DAV", answer["MS-Author-Via"]);
        Assert.Equal("bytes", answer["Accept-Ranges"]);
        Assert.Empty(answer.Body);
    }

    [Theory]
    [InlineData("LOCK", "/file.mkv", "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE")]
    [InlineData("MKCOL", "/file.mkv", "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE")]
    [InlineData("UNLOCK", "/new.mkv", "OPTIONS, PUT")]
    [InlineData("POST", "/file.mkv", "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE")]
    [InlineData("get", "/file.mkv", "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE")]
    [InlineData("GET", "/folder/", "OPTIONS, PROPFIND")]
    [InlineData("HEAD", "/folder", "OPTIONS, PROPFIND")]
    [InlineData("PUT", "/folder", "OPTIONS, PROPFIND")]
    [InlineData("BREW", "/", "OPTIONS, GET, HEAD, PROPFIND")]
    public async Task Disallowed_verb_returns_405_with_the_allowed_verbs(string verb, string path, string allow)
    {
        var answer = await _server.SendAsync($"{verb} {path}");

        Assert.Equal(405, answer.Status);
        Assert.Equal(allow, answer["Allow"]);
    }

    [Theory]
    [InlineData("PUT", "/fixed/file.mkv", 403)]
    [InlineData("PUT", "/fixed/new.mkv", 403)]
    [InlineData("DELETE", "/fixed/file.mkv", 403)]
    [InlineData("DELETE", "/fixed/new.mkv", 404)]
    [InlineData("DELETE", "/new.mkv", 404)]
    [InlineData("GET", "/new.mkv", 404)]
    [InlineData("HEAD", "/new.mkv", 404)]
    [InlineData("PROPFIND", "/new.mkv", 404)]
    [InlineData("PROPFIND", "/file.mkv/", 404)]
    [InlineData("GET", "/FILE.mkv", 404)]
    [InlineData("DELETE", "/folder", 403)]
    [InlineData("MKCOL", "/new.mkv", 403)]
    [InlineData("MKCOL", "/none/new.mkv", 409)]
    [InlineData("COPY", "/new.mkv", 404)]
    [InlineData("MOVE", "/file.mkv", 400)]
    [InlineData("PROPPATCH", "/new.mkv", 404)]
    [InlineData("MKCOL", "/foreign/new", 404)]
    [InlineData("GET", "/foreign/x", 404)]
    [InlineData("PROPFIND", "/foreign", 404)]
    [InlineData("PUT", "/foreign", 404)]
    [InlineData("OPTIONS", "/foreign", 404)]
    [InlineData("GET", "/", 404)]
    public async Task Refusal_has_its_status_and_no_body(string verb, string path, int status)
    {
        var answer = await _server.SendAsync($"{verb} {path}");

        Assert.Equal(status, answer.Status);
        Assert.Empty(answer.Body);
    }

    [Theory]
    [InlineData("/a/%2e%2e/file.mkv")]
    [InlineData("/a/../file.mkv")]
    [InlineData("/./file.mkv")]
    [InlineData("/folder%2Ffile.mkv")]
    [InlineData("/folder%5cfile.mkv")]
    [InlineData("/file.mkv%00")]
    [InlineData("/%ff")]
    [InlineData("/%zz")]
    [InlineData("/%")]
    public async Task Ambiguous_path_returns_400(string path) =>
        Assert.Equal(400, (await _server.SendAsync("GET " + path)).Status);

    [Theory]
    [InlineData("//file.mkv")]
    [InlineData("///fixed//file.mkv")]
    [InlineData("/fixed/file.mkv?x=1")]
    [InlineData("/%66ile.mkv")]
    [InlineData("http://tree.test/file.mkv")]
    public async Task Equivalent_encodings_of_a_path_find_the_file(string path) =>
        Assert.Equal(200, (await _server.SendAsync("GET " + path)).Status);

    [Theory]
    [InlineData("%41", "/%2541")]
    [InlineData("a+b", "/a+b")]
    [InlineData("name.", "/name.")]
    [InlineData("a:b", "/a:b")]
    [InlineData("[x]?#", "/%5Bx%5D%3F%23")]
    [InlineData("...", "/...")]
    [InlineData("\u00e9", "/e%CC%81")]
    [InlineData("\U0001F3AC", "/%F0%9F%8E%AC")]
    public async Task Unusual_name_is_found_by_its_encoded_path(string name, string path)
    {
        _server.Store.Root.Add(new MemoryFile(name, [1, 2]));

        Assert.Equal(2, (await _server.SendAsync("GET " + path)).Body.Length);
    }

    [Fact]
    public async Task Unreadable_tree_returns_503_for_every_path_and_verb()
    {
        _server.Store.Failure = new StoreUnavailableException("The database is locked.");
        foreach (var request in new[] { "PROPFIND /", "GET /file.mkv", "GET /none", "DELETE /file.mkv", "OPTIONS /", "PUT /x", "HEAD /folder" })
        {
            var answer = await _server.SendAsync(request, "Content-Length: 0");

            Assert.Equal(503, answer.Status);
            Assert.Equal("30", answer["Retry-After"]);
            Assert.Equal("no-store", answer["Cache-Control"]);
        }
    }

    [Fact]
    public async Task Other_endpoints_take_precedence_only_for_their_verb_and_path()
    {
        await using var server = await DavTestServer.StartAsync(before: app =>
        {
            app.MapGet("/foreign", () => "mine");
            app.MapGet("/healthz", () => "ok");
        });

        Assert.Equal("mine", (await server.SendAsync("GET /foreign")).Text);
        Assert.Equal("ok", (await server.SendAsync("GET /healthz")).Text);
        Assert.Equal(404, (await server.SendAsync("PROPFIND /foreign")).Status);
        Assert.Equal(404, (await server.SendAsync("GET /foreign/other")).Status);
    }

    [Fact]
    public async Task Authorization_of_the_endpoint_covers_every_verb_and_path()
    {
        await using var server = await DavTestServer.StartAsync(
            services: services => services
                .AddAuthorization(options => options.AddPolicy("tree", policy => policy.RequireAuthenticatedUser()))
                .AddAuthentication("test")
                .AddScheme<Microsoft.AspNetCore.Authentication.AuthenticationSchemeOptions, RefusingScheme>("test", null),
            before: app => app.UseAuthentication().UseAuthorization(),
            endpoint: endpoint => endpoint.RequireAuthorization("tree"));

        foreach (var verb in new[] { "GET", "HEAD", "PROPFIND", "OPTIONS", "PUT", "DELETE", "MOVE", "BREW" })
        {
            foreach (var path in new[] { "/", "//", "/a/b", "/%2e%2e/a", "/.well-known/x", "/a%2Fb", "/a%5cb", "http://tree.test/" })
                Assert.Equal(401, (await server.SendAsync($"{verb} {path}", "Content-Length: 0")).Status);
        }

        Assert.Equal(401, (await server.SendAsync("OPTIONS *")).Status);
        Assert.Equal(0, server.Store.Lookups);
    }

    [Fact]
    public void Verb_with_two_handlers_fails_startup() =>
        Assert.Throws<ArgumentException>(() => new WebDavDispatcher(new MemoryStore(), [new OptionsHandler(), new OptionsHandler()], null!, null!));

    [Fact]
    public void Verb_without_a_handler_fails_startup() =>
        Assert.Throws<InvalidOperationException>(() => new WebDavDispatcher(new MemoryStore(), [new OptionsHandler()], null!, null!));
}
