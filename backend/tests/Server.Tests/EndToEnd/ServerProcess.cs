using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The server as a separate process, with a data folder, a port and credentials known to the test.</summary>
internal sealed partial class ServerProcess : IAsyncDisposable
{
    public const string User = "admin";
    public const string Password = "correct-horse-battery";
    public const string ApiKey = "0123456789abcdef0123456789abcdef";

    // tools/run.sh builds first, which can take a minute on a busy machine.
    private static readonly TimeSpan StartLimit = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    private static readonly ConcurrentDictionary<int, int> HandedOut = new();

    private readonly Process _process;
    private readonly ConcurrentQueue<string> _lines = new();
    private readonly Task _output;

    // Process is not thread-safe, and clients of a server wait for its end concurrently, so they share this task.
    private readonly Task _exit;

    private ServerProcess(Process process, int port)
    {
        _process = process;
        _exit = process.WaitForExitAsync(CancellationToken.None);
        Port = port;
        process.StandardInput.Close();
        _output = Task.WhenAll(CopyLinesAsync(process.StandardOutput), CopyLinesAsync(process.StandardError));
    }

    public int Port { get; }

    public int Id => _process.Id;

    /// <summary>Everything printed so far, on both streams.</summary>
    public IReadOnlyCollection<string> Lines => _lines;

    /// <summary>Whether the process has ended.</summary>
    public bool HasEnded => _exit.IsCompleted;

    /// <summary>Resident memory in bytes, as reported by the system.</summary>
    public long ResidentBytes
    {
        get
        {
            _process.Refresh();
            return _process.WorkingSet64;
        }
    }

    /// <summary>CPU time used by the process.</summary>
    public TimeSpan ProcessorTime
    {
        get
        {
            _process.Refresh();
            return _process.TotalProcessorTime;
        }
    }

    /// <summary>Highest resident memory so far, in bytes.</summary>
    public long PeakResidentBytes
    {
        get
        {
            _process.Refresh();
            return _process.PeakWorkingSet64;
        }
    }

    /// <summary>Starts the server in the form of the running test on any port, and waits until it answers.</summary>
    /// <param name="data">Data folder; created if missing.</param>
    /// <param name="settings">Environment variables besides the credentials.</param>
    /// <param name="cancel">Cancels the wait.</param>
    public static Task<ServerProcess> StartAsync(
        string data, IReadOnlyDictionary<string, string>? settings, CancellationToken cancel) =>
        StartAsync(data, FreePort(), settings, cancel);

    /// <summary>Starts the server in the form of the running test on a port, and waits until it answers.</summary>
    public static Task<ServerProcess> StartAsync(
        string data, int port, IReadOnlyDictionary<string, string>? settings, CancellationToken cancel)
    {
        var variables = new Dictionary<string, string>(settings ?? new Dictionary<string, string>())
        {
            ["SLUICE_CONFIG__WEBDAV__USER"] = User,
            ["SLUICE_CONFIG__WEBDAV__PASS"] = Password,
            ["SLUICE_CONFIG__API__KEY"] = ApiKey,
        };
        return StartAsync(Executable, [], data, port, variables, cancel);
    }

    /// <summary>Starts the server by any command, with only a folder and a port.</summary>
    /// <param name="command">Program.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="data">Data folder.</param>
    /// <param name="port">Port.</param>
    /// <param name="variables">Environment variables.</param>
    /// <param name="cancel">Cancels the wait.</param>
    /// <param name="path">The path that must answer with success.</param>
    public static async Task<ServerProcess> StartAsync(
        string command,
        IEnumerable<string> arguments,
        string data,
        int port,
        IReadOnlyDictionary<string, string> variables,
        CancellationToken cancel,
        string path = "readyz")
    {
        var server = Launch(command, arguments, data, port, variables);
        try
        {
            await server.WaitUntilServingAsync(path, cancel);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts the server without waiting for it.</summary>
    public static ServerProcess Launch(
        string command, IEnumerable<string> arguments, string data, int port, IReadOnlyDictionary<string, string> variables)
    {
        var environment = new Dictionary<string, string>(variables)
        {
            ["CONFIG_PATH"] = data,
            ["PORT"] = port.ToString(System.Globalization.CultureInfo.InvariantCulture),
            ["BIND_ADDRESS"] = "127.0.0.1",
        };
        return new ServerProcess(ExternalProgram.Start(command, arguments, environment), port);
    }

    /// <summary>Waits until the server prints a matching line.</summary>
    public async Task<string> LineAsync(Func<string, bool> wanted, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(StartLimit);
        while (true)
        {
            if (_lines.FirstOrDefault(wanted) is { } line)
                return line;
            Assert.False(limit.IsCancellationRequested, $"The server printed no such line:\n{string.Join('\n', _lines)}");
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }

    /// <summary>
    /// Returns a free port, a different one for each call. It lies below the ports of outgoing connections, because a connection of a parallel
    /// test could otherwise take it before the server listens, and also below those of the browser tests, which run beside these.
    /// </summary>
    public static int FreePort()
    {
        while (true)
        {
            var port = Random.Shared.Next(10_000, 20_000);
            if (!HandedOut.TryAdd(port, port))
                continue;
            try
            {
                using var listener = new TcpListener(IPAddress.Loopback, port);
                listener.Start();
                return port;
            }
            catch (SocketException)
            {
                // Another program uses the port.
            }
        }
    }

    /// <summary>Kills the process, so that it cannot write anything more, as after a power failure.</summary>
    public async Task KillAsync()
    {
        _process.Kill(entireProcessTree: true);
        await _exit;
        await _output;
    }

    /// <summary>Waits until the process ends by itself.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> EndAsync(CancellationToken cancel)
    {
        await _exit.WaitAsync(cancel);
        await _output;
        return _process.ExitCode;
    }

    /// <summary>Sends the stop signal of a supervisor and waits until the process ends.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> StopAsync(CancellationToken cancel)
    {
        Assert.Equal(0, SendSignal(_process.Id, 15));
        await _exit.WaitAsync(cancel);
        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!HasEnded)
            await KillAsync();
        await _output;
        _process.Dispose();
    }

    /// <summary>The executable in the form of the running test.</summary>
    public static string Executable => ServerForm.Executable;

    private async Task WaitUntilServingAsync(string path, CancellationToken cancel)
    {
        using var http = new HttpClient();
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(StartLimit);
        while (true)
        {
            if (HasEnded)
                Assert.Fail($"The server ended with exit code {_process.ExitCode}:\n{string.Join('\n', _lines)}");
            try
            {
                using var answer = await http.GetAsync(new Uri($"http://127.0.0.1:{Port}/{path}"), limit.Token);
                if (answer.IsSuccessStatusCode)
                    return;
            }
            catch (HttpRequestException)
            {
                // The server does not listen yet.
            }
            catch (OperationCanceledException) when (!cancel.IsCancellationRequested)
            {
                Assert.Fail($"The server does not answer /{path}:\n{string.Join('\n', _lines)}");
            }
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }

    private async Task CopyLinesAsync(StreamReader reader)
    {
        while (await reader.ReadLineAsync() is { } line)
            _lines.Enqueue(line);
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int SendSignal(int process, int signal);
}
