using Sluice.Tools.MockNntpServer;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A server with a mock news server, a data folder and a client.</summary>
internal sealed class MockedServer : IAsyncDisposable
{
    private readonly ScratchFolder _folder = new();

    private readonly MockProvider _account;

    private MockedServer(MockServer mock, MockProvider account) => (Mock, _account) = (mock, account);

    public MockServer Mock { get; }

    public ServerProcess Server { get; private set; } = null!;

    public SluiceClient Client { get; private set; } = null!;

    public string Data => _folder.File("data");

    /// <summary>Starts the news server, then a server with all its providers.</summary>
    /// <param name="options">Articles and faults of the news server; all providers have the login of the first.</param>
    /// <param name="settings">Environment variables besides the providers.</param>
    /// <param name="cancel">Cancels the wait.</param>
    public static async Task<MockedServer> StartAsync(
        MockOptions options, IReadOnlyDictionary<string, string>? settings, CancellationToken cancel)
    {
        var set = new MockedServer(await MockServer.StartAsync(options), options.Providers[0]);
        try
        {
            await set.RestartAsync(settings, cancel);
            return set;
        }
        catch
        {
            await set.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts the servers with the real posts of the fixtures at one provider without faults.</summary>
    public static Task<MockedServer> WithRealPostsAsync(CancellationToken cancel) =>
        StartAsync(new MockOptions { Spool = RealPost.Spool }, null, cancel);

    /// <summary>Starts the server again on the same folder and port, after the previous process has ended.</summary>
    public async Task RestartAsync(IReadOnlyDictionary<string, string>? settings, CancellationToken cancel)
    {
        Client?.Dispose();
        var variables = ProviderSettings.For([.. Mock.Ports], _account.User ?? "", _account.Password ?? "");
        foreach (var (key, value) in settings ?? new Dictionary<string, string>())
            variables[key] = value;
        Server = await ServerProcess.StartAsync(Data, Server?.Port ?? ServerProcess.FreePort(), variables, cancel);
        Client = new SluiceClient(Server);
    }

    /// <summary>Returns a path in a folder that is deleted after the test.</summary>
    public string File(string name) => _folder.File(name);

    public async ValueTask DisposeAsync()
    {
        Client?.Dispose();
        if (Server is not null)
            await Server.DisposeAsync();
        await Mock.DisposeAsync();
        _folder.Dispose();
    }
}
