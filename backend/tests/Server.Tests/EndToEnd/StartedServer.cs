using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A started server process, which may serve, enter safe mode or end.</summary>
internal sealed partial class StartedServer : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    private readonly Process _process;
    private readonly HttpClient _http = new();
    private readonly ConcurrentQueue<string> _lines = new();
    private readonly ConcurrentQueue<string> _errors = new();
    private readonly Task _output;

    private StartedServer(Process process)
    {
        _process = process;
        process.StandardInput.Close();
        _output = Task.WhenAll(CopyAsync(process.StandardOutput, _lines), CopyAsync(process.StandardError, _errors));
    }

    /// <summary>Port of the server; 0 once it has ended.</summary>
    public int Port { get; private set; }

    /// <summary>Lines on stderr.</summary>
    public IReadOnlyCollection<string> Errors => _errors;

    /// <summary>Starts a command and waits until it listens or has ended.</summary>
    public static async Task<StartedServer> StartAsync(
        string command, IEnumerable<string> arguments, IReadOnlyDictionary<string, string> variables, CancellationToken cancel)
    {
        // At this level the log tells whether the database was checked.
        var all = new Dictionary<string, string>(variables) { ["LOG_LEVEL"] = "debug" };
        var server = new StartedServer(ExternalProgram.Start(command, arguments, all));
        try
        {
            await server.UntilAsync(() => Task.FromResult(server._process.HasExited || server.FindPort()), cancel);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until the outcome of the start is known.</summary>
    /// <returns><c>exit</c> with its code, <c>safe</c>, or <c>serves</c> once the database is found sound or needs no check.</returns>
    public async Task<string> SettledAsync(CancellationToken cancel)
    {
        var outcome = "";
        await UntilAsync(
            async () =>
            {
                if (_process.HasExited)
                    outcome = $"exit {_process.ExitCode.ToString(CultureInfo.InvariantCulture)}";
                else if ((await GetAsync("healthz", cancel)).Contains("\"safe\"", StringComparison.Ordinal))
                    outcome = "safe";
                else if (_lines.Any(line => line.Contains("Database check passed", StringComparison.Ordinal) || line.Contains("Last check passed at", StringComparison.Ordinal)))
                    outcome = "serves";
                return outcome.Length > 0;
            },
            cancel);
        await (_process.HasExited ? _output : Task.CompletedTask);
        return outcome;
    }

    /// <summary>Sends the stop signal and waits until the process ends; returns its exit code.</summary>
    public async Task<int> StopAsync(CancellationToken cancel)
    {
        Assert.Equal(0, Kill(_process.Id, 15));
        await _process.WaitForExitAsync(cancel);
        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync();
        await _output;
        _process.Dispose();
        _http.Dispose();
    }

    private bool FindPort()
    {
        var match = _lines.Select(line => Serving().Match(line)).FirstOrDefault(match => match.Success);
        if (match is not null)
            Port = int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture);
        return match is not null;
    }

    private async Task<string> GetAsync(string path, CancellationToken cancel)
    {
        try
        {
            return await _http.GetStringAsync(new Uri($"http://127.0.0.1:{Port}/{path}"), cancel);
        }
        catch (HttpRequestException)
        {
            // The process has ended, which the caller checks next.
            return "";
        }
    }

    private async Task UntilAsync(Func<Task<bool>> condition, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(Limit);
        while (!await condition())
        {
            Assert.False(limit.IsCancellationRequested, $"Nothing came of the start:\n{string.Join('\n', _lines.Concat(_errors))}");
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }

    private static async Task CopyAsync(StreamReader reader, ConcurrentQueue<string> lines)
    {
        while (await reader.ReadLineAsync() is { } line)
            lines.Enqueue(line);
    }

    [GeneratedRegex(@"^Sluice serves WebDAV at http://127\.0\.0\.1:([0-9]+)/")]
    private static partial Regex Serving();

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Kill(int process, int signal);
}
