using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>A started server of the build with failpoints, which may end before it serves.</summary>
internal sealed class ArmedServer : IAsyncDisposable
{
    private const int Killed = 128 + 9;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    private readonly ServerProcess _process;

    private ArmedServer(ServerProcess process) => (_process, Client) = (process, new SluiceClient(process));

    public SluiceClient Client { get; }

    /// <summary>Time from the start of the process to its first answer.</summary>
    public TimeSpan Took { get; private set; }

    public bool HasEnded => _process.HasEnded;

    /// <summary>Starts the server and waits until it serves or has ended.</summary>
    /// <param name="data">Data folder.</param>
    /// <param name="settings">Environment variables besides the credentials.</param>
    /// <param name="armed">The step and pass, separated by a colon, at which the server ends; null for none.</param>
    /// <param name="cancel">Cancels the wait.</param>
    public static async Task<ArmedServer> StartAsync(string data, IReadOnlyDictionary<string, string> settings, string? armed, CancellationToken cancel)
    {
        var variables = new Dictionary<string, string>(settings)
        {
            ["SLUICE_CONFIG__WEBDAV__USER"] = ServerProcess.User,
            ["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(ServerProcess.Password),
            ["SLUICE_CONFIG__API__KEY"] = ServerProcess.ApiKey,
            [FailpointBuild.Variable] = armed ?? "",
            // Optimized code does not pay off in a process that lives for a second.
            ["DOTNET_TC_QuickJit"] = "1",
            ["DOTNET_TC_QuickJitForLoops"] = "1",
        };
        var began = TimeProvider.System.GetTimestamp();
        var server = new ArmedServer(ServerProcess.Launch(FailpointBuild.Executable, [], data, ServerProcess.FreePort(), variables));
        try
        {
            await server.UntilServingAsync(cancel);
            if (armed is null && server.HasEnded)
                Assert.Fail($"It has ended although nothing should end it:\n{string.Join('\n', server._process.Lines)}");
            server.Took = TimeProvider.System.GetElapsedTime(began);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    public Task KillAsync() => _process.KillAsync();

    /// <summary>Waits until the server has ended at its step.</summary>
    /// <param name="cancel">Cancels the wait.</param>
    /// <param name="sign">The failure that a client saw; null after a kill.</param>
    public async Task EndAsync(CancellationToken cancel, Exception? sign = null)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(Limit);
        try
        {
            Assert.Equal(Killed, await _process.EndAsync(limit.Token));
        }
        catch (OperationCanceledException) when (!cancel.IsCancellationRequested)
        {
            Assert.Fail($"It has not ended:\n{string.Join('\n', _process.Lines)}\n{sign}");
        }
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _process.DisposeAsync();
    }

    private async Task UntilServingAsync(CancellationToken cancel)
    {
        using var http = new HttpClient();
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(Limit);
        while (!_process.HasEnded)
        {
            Assert.False(limit.IsCancellationRequested, $"It does not serve:\n{string.Join('\n', _process.Lines)}");
            try
            {
                using var answer = await http.GetAsync(new Uri($"http://127.0.0.1:{_process.Port}/readyz"), cancel);
                if (answer.IsSuccessStatusCode)
                    return;
            }
            catch (HttpRequestException)
            {
                // The server does not listen yet, or no longer.
            }

            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }
}
