using System.Net;

namespace Sluice.Tools.FullNzbTester.Mock;

/// <summary>Asks a running mock for its counters.</summary>
internal sealed class MockControl(IPEndPoint control) : IDisposable
{
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

    public void Dispose() => _http.Dispose();
}
