using System.Diagnostics;
using System.Globalization;
using System.Net;

namespace Sluice.Tools.FullNzbTester.Mock;

/// <summary>Client of a mock's control port.</summary>
internal sealed class MockControl(IPEndPoint control) : IDisposable
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    // Longer than a reader pauses between two requests.
    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(150);

    // Beyond this limit the mock is busy, not waiting for stragglers.
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(10);

    // Leaves time to encode two gigabytes on a busy machine.
    private readonly HttpClient _patient = new() { BaseAddress = new Uri($"http://{control}/"), Timeout = TimeSpan.FromMinutes(5) };
    private readonly HttpClient _http = new() { BaseAddress = new Uri($"http://{control}/"), Timeout = TimeSpan.FromSeconds(10) };

    public async Task<MockCounts> CountsAsync(CancellationToken cancellationToken) =>
        MockCounts.Parse(await _http.GetStringAsync(new Uri("stats", UriKind.Relative), cancellationToken));

    /// <summary>Resets all counters, including fault hits and article attempts.</summary>
    public async Task ResetAsync(CancellationToken cancellationToken)
    {
        using var answer = await _http.PostAsync(new Uri("reset", UriKind.Relative), content: null, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    public async Task SetFaultsAsync(string script, CancellationToken cancellationToken)
    {
        using var body = new StringContent(script);
        using var answer = await _http.PostAsync(new Uri("faults", UriKind.Relative), body, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    /// <summary>Pre-encodes the articles of a release if the mock has room, and drops other releases.</summary>
    /// <returns>The NZB of the release.</returns>
    public async Task<byte[]> PrepareAsync(ulong seed, CancellationToken cancellationToken)
    {
        using var answer = await _patient.PostAsync(new Uri(string.Create(CultureInfo.InvariantCulture, $"release?seed={seed}"), UriKind.Relative), content: null, cancellationToken);
        answer.EnsureSuccessStatusCode();
        return await answer.Content.ReadAsByteArrayAsync(cancellationToken);
    }

    /// <summary>Closes all connections, as a provider does after a long idle time.</summary>
    public async Task DropConnectionsAsync(CancellationToken cancellationToken)
    {
        using var answer = await _http.PostAsync(new Uri("drop", UriKind.Relative), content: null, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    /// <summary>
    /// Waits until every connection has ended and been counted, after the engine closed its own. A timeout is not an error here, because
    /// the comparison of the counts reports it.
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
            // The mock is still busy. Its counts show the cause.
        }
    }

    /// <summary>Waits until the mock has no pending command, answer or connection.</summary>
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
