using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>A start of the build with failpoints, which may end before it serves.</summary>
internal sealed class ArmedServer : IAsyncDisposable
{
    private const int Killed = 128 + 9;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    private readonly ServerProcess _process;

    private ArmedServer(ServerProcess process) => (_process, Client) = (process, new SluiceClient(process));

    public SluiceClient Client { get; }

    /// <summary>From the start of the process until it answered.</summary>
    public TimeSpan Took { get; private set; }

    public bool HasEnded => _process.HasEnded;

    /// <summary>Starts it and waits until it serves or has ended.</summary>
    /// <param name="data">Data folder.</param>
    /// <param name="settings">Environment variables beside credentials.</param>
    /// <param name="armed">Where it ends: a step, a colon, a pass; null: nowhere.</param>
    /// <param name="cancel">Gives up waiting.</param>
    public static async Task<ArmedServer> StartAsync(string data, IReadOnlyDictionary<string, string> settings, string? armed, CancellationToken cancel)
    {
        var variables = new Dictionary<string, string>(settings)
        {
            ["SLUICE_CONFIG__WEBDAV__USER"] = ServerProcess.User,
            ["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(ServerProcess.Password),
            ["SLUICE_CONFIG__API__KEY"] = ServerProcess.ApiKey,
            [FailpointBuild.Variable] = armed ?? "",
            // A process that lives for a second is not worth optimized code.
            ["DOTNET_TC_QuickJit"] = "1",
            ["DOTNET_TC_QuickJitForLoops"] = "1",
        };
        var began = TimeProvider.System.GetTimestamp();
        var server = new ArmedServer(ServerProcess.Launch(FailpointBuild.Executable, [], data, ServerProcess.FreePort(), variables));
        try
        {
            await server.UntilServingAsync(cancel);
            server.Took = TimeProvider.System.GetElapsedTime(began);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Kills it.</summary>
    public Task KillAsync() => _process.KillAsync();

    /// <summary>Waits until it has ended at its step.</summary>
    /// <param name="cancel">Gives up waiting.</param>
    /// <param name="sign">What made its client think so; null where it was killed.</param>
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
                // It does not listen yet, or no longer.
            }

            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }
}
