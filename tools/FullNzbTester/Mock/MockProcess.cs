using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Mock;

/// <summary>Runs MockNntpServer as a child process, so that its work does not count as the tester's.</summary>
internal sealed class MockProcess : IAsyncDisposable
{
    private const long LargestAhead = 2L << 30;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);
    private static readonly string Program = typeof(MockServer).Assembly.Location;

    private readonly Process _process;
    private readonly Task _errors;
    private readonly ReadyLine _ready;

    private MockProcess(Process process, ReadyLine ready, Task errors)
    {
        _process = process;
        _ready = ready;
        _errors = errors;
        Control = new MockControl(ready.Control);
    }

    public MockControl Control { get; }

    /// <summary>Starts the mock and waits until it listens.</summary>
    /// <exception cref="UsageException">The mock rejects its flags.</exception>
    public static async Task<MockProcess> StartAsync(MockFlags flags, CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo { RedirectStandardError = true, RedirectStandardInput = true, UseShellExecute = false };
        start.FileName = DotNet();
        start.ArgumentList.Add("exec");
        start.ArgumentList.Add(Program);
        foreach (var argument in Arguments(flags))
            start.ArgumentList.Add(argument);

        var process = Process.Start(start) ?? throw new InvalidOperationException("The mock did not start.");
        try
        {
            var said = new List<string>();
            while (await process.StandardError.ReadLineAsync(cancellationToken) is { } line)
            {
                if (ReadyLine.TryParse(line, out var ready))
                    return new MockProcess(process, ready, DrainAsync(process.StandardError));
                said.Add(line);
            }

            throw new UsageException($"The mock server does not start: {said.FirstOrDefault() ?? "it said nothing"}");
        }
        catch
        {
            await EndAsync(process);
            process.Dispose();
            throw;
        }
    }

    /// <summary>Returns the mock's providers as engine options.</summary>
    public IReadOnlyList<ProviderOptions> Providers(TesterOptions options) =>
    [
        .. _ready.Providers.Select((endPoint, index) => new ProviderOptions
        {
            Name = _ready.Providers.Count == 1 ? "mock" : string.Create(CultureInfo.InvariantCulture, $"mock-{index}"),
            Host = endPoint.Address.ToString(),
            Port = endPoint.Port,
            UseTls = options.Mock!.Tls,
            // No client trusts the mock's new authority, and verification is not part of the measured TLS cost.
            SkipTlsVerification = options.Mock.Tls,
            MaxConnections = options.Connections,
            PipeliningDepth = options.Pipelining,
            Priority = index,
        }),
    ];

    public async ValueTask DisposeAsync()
    {
        Control.Dispose();
        await EndAsync(_process);
        await _errors;
        _process.Dispose();
    }

    private static IEnumerable<string> Arguments(MockFlags flags)
    {
        foreach (var flag in flags.PassedOn)
            yield return flag;
        if (flags.Media is not null)
            yield return $"--media={flags.Media}";
        else
            yield return string.Create(CultureInfo.InvariantCulture, $"--size={flags.Size >> 20}");
        yield return string.Create(CultureInfo.InvariantCulture, $"--files={flags.Files}");
        yield return string.Create(CultureInfo.InvariantCulture, $"--article-size={flags.ArticleSize}");
        yield return $"--layout={flags.Layout}";
        if (flags.Volumes is { } volumes)
            yield return string.Create(CultureInfo.InvariantCulture, $"--volumes={volumes}");
        if (flags.Par2 is { } blocks)
            yield return string.Create(CultureInfo.InvariantCulture, $"--par2={blocks}");
        if (flags.Password is not null)
            yield return $"--password={flags.Password}";
        if (flags.Obfuscate)
            yield return "--obfuscate";
        // Leaves room for one pre-encoded release, so that encoding does not cost time during the measurement.
        var size = flags.Media is null ? flags.Size : new FileInfo(flags.Media).Length;
        yield return string.Create(CultureInfo.InvariantCulture, $"--cache={512 + ((size <= LargestAhead ? size >> 20 : 0) * 11 / 10)}");
        yield return "--exit-with-stdin";
    }

    /// <summary>Path of the <c>dotnet</c> host, found above <c>shared/Microsoft.NETCore.App/10.0.0/</c>.</summary>
    private static string DotNet()
    {
        var host = Path.GetFullPath(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "..", "..", "..", OperatingSystem.IsWindows() ? "dotnet.exe" : "dotnet"));
        return File.Exists(host) ? host : "dotnet";
    }

    /// <summary>Closes the process's standard input so that it exits, and kills it if it does not.</summary>
    private static async Task EndAsync(Process process)
    {
        process.StandardInput.Close();
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        try
        {
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            await process.WaitForExitAsync(CancellationToken.None);
        }
    }

    private static async Task DrainAsync(StreamReader errors)
    {
        while (await errors.ReadLineAsync() is not null)
        {
        }
    }
}
