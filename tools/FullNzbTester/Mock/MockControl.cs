using System.Diagnostics;
using System.Globalization;
using System.Net;

namespace Sluice.Tools.FullNzbTester.Mock;

/// <summary>Asks a running mock for its counters.</summary>
internal sealed class MockControl(IPEndPoint control) : IDisposable
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    // Longer than a reader takes between two requests.
    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(150);

    // A mock that is not at rest by then is not waiting for stragglers but busy.
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(10);

    // Encoding two gigabytes on a busy machine.
    private readonly HttpClient _patient = new() { BaseAddress = new Uri($"http://{control}/"), Timeout = TimeSpan.FromMinutes(5) };
    private readonly HttpClient _http = new() { BaseAddress = new Uri($"http://{control}/"), Timeout = TimeSpan.FromSeconds(10) };

    /// <summary>The counters now.</summary>
    public async Task<MockCounts> CountsAsync(CancellationToken cancellationToken) =>
        MockCounts.Parse(await _http.GetStringAsync(new Uri("stats", UriKind.Relative), cancellationToken));

    /// <summary>Sets the counters to zero, those of faults and tries included.</summary>
    public async Task ResetAsync(CancellationToken cancellationToken)
    {
        using var answer = await _http.PostAsync(new Uri("reset", UriKind.Relative), content: null, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    /// <summary>Replaces the fault script.</summary>
    public async Task SetFaultsAsync(string script, CancellationToken cancellationToken)
    {
        using var body = new StringContent(script);
        using var answer = await _http.PostAsync(new Uri("faults", UriKind.Relative), body, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    /// <summary>Has the articles of a release encoded ahead, where the mock has room for it, and those of others dropped.</summary>
    /// <returns>Its NZB.</returns>
    public async Task<byte[]> PrepareAsync(ulong seed, CancellationToken cancellationToken)
    {
        using var answer = await _patient.PostAsync(new Uri(string.Create(CultureInfo.InvariantCulture, $"release?seed={seed}"), UriKind.Relative), content: null, cancellationToken);
        answer.EnsureSuccessStatusCode();
        return await answer.Content.ReadAsByteArrayAsync(cancellationToken);
    }

    /// <summary>Closes all connections, as a provider does with those that were idle for long.</summary>
    public async Task DropConnectionsAsync(CancellationToken cancellationToken)
    {
        using var answer = await _http.PostAsync(new Uri("drop", UriKind.Relative), content: null, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    /// <summary>
    /// Waits until every connection has ended and been counted, once the engine has closed its own. Gives up after a while without a
    /// fault: the comparison of the counts finds it.
    /// </summary>
    public async Task WaitUntilClosedAsync(CancellationToken cancellationToken)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(LongestRest);
        try
        {
            do
            {
                await WaitUntilQuietAsync(patience.Token);
            }
            while ((await CountsAsync(patience.Token)).Total.Open > 0);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The mock is still busy; the counts say with what.
        }
    }

    /// <summary>Waits until no command is open, no answer is being sent and no connection is being made.</summary>
    public async Task WaitUntilQuietAsync(CancellationToken cancellationToken)
    {
        var quietSince = Stopwatch.GetTimestamp();
        var before = (await CountsAsync(cancellationToken)).Total;
        while (Stopwatch.GetElapsedTime(quietSince) < Quiet)
        {
            await Task.Delay(Poll, TimeProvider.System, cancellationToken);
            var now = (await CountsAsync(cancellationToken)).Total;
            if (now.Waiting > 0 || now.HasUnaccepted || now.Commands != before.Commands || now.Bytes != before.Bytes || now.Opened != before.Opened)
                quietSince = Stopwatch.GetTimestamp();
            before = now;
        }
    }

    public void Dispose()
    {
        _patient.Dispose();
        _http.Dispose();
    }
}
