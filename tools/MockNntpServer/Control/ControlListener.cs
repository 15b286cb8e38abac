using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Control;

/// <summary>
/// HTTP control port on loopback: <c>GET /stats</c>, <c>POST /reset</c>, <c>POST /drop</c>, <c>POST /release?seed=2</c>, <c>POST
/// /set?latency=150&amp;missing=0.01</c> (<c>provider=0</c> limits it to one provider), and <c>POST /faults</c> with a new fault script.
/// <c>/release</c> pre-encodes a release in place of the previous one and returns its NZB.
/// </summary>
internal sealed class ControlListener : IAsyncDisposable
{
    private readonly MockServer _mock;
    private readonly TcpListener _listener;
    private readonly CancellationTokenSource _stopping = new();
    private readonly List<Task> _requests = [];
    private readonly Task _accepting;

    public ControlListener(MockServer mock, int port)
    {
        _mock = mock;
        _listener = new TcpListener(IPAddress.Loopback, port);
        _listener.Start();
        EndPoint = (IPEndPoint)_listener.LocalEndpoint;
        _accepting = AcceptAsync();
    }

    public IPEndPoint EndPoint { get; }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _accepting;
        _listener.Dispose();
        await Task.WhenAll(_requests);
        _stopping.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var client = await _listener.AcceptTcpClientAsync(_stopping.Token);
                _requests.RemoveAll(request => request.IsCompleted);
                _requests.Add(ServeAsync(client));
            }
        }
        catch (OperationCanceledException)
        {
            // The mock is stopping.
        }
    }

    private async Task ServeAsync(TcpClient client)
    {
        try
        {
            using (client)
            {
                await using var stream = client.GetStream();
                var (status, body) = await AnswerAsync(stream);
                var head = string.Create(
                    CultureInfo.InvariantCulture,
                    $"HTTP/1.1 {status}\r\nContent-Type: {(body is [(byte)'{', ..] ? "application/json" : "text/plain; charset=utf-8")}\r\nContent-Length: {body.Length}\r\nConnection: close\r\n\r\n");
                await stream.WriteAsync((byte[])[.. Encoding.ASCII.GetBytes(head), .. body], _stopping.Token);
            }
        }
        catch (Exception e) when (e is IOException or SocketException or OperationCanceledException)
        {
            // Ignored, because a client that disconnects early is not an error of the mock.
        }
    }

    private async Task<(string Status, byte[] Body)> AnswerAsync(Stream stream)
    {
        try
        {
            var request = await ControlRequest.ReadAsync(stream, _stopping.Token);
            switch (request.Method, request.Path)
            {
                case ("GET", "/stats"):
                    return ("200 OK", StatsJson.Write(_mock));
                case ("POST", "/reset"):
                    _mock.Reset();
                    return ("204 No Content", []);
                case ("POST", "/drop"):
                    await _mock.DropConnectionsAsync();
                    return ("204 No Content", []);
                case ("POST", "/release"):
                    return ("200 OK", await _mock.PrepareAsync(ReleaseOf(request.Query), _stopping.Token));
                case ("POST", "/set"):
                    Set(request.Query);
                    return ("204 No Content", []);
                case ("POST", "/faults"):
                    _mock.ChangeFaults(FaultScript.Parse(request.Body));
                    return ("204 No Content", []);
                default:
                    return ("404 Not Found", "GET /stats, POST /reset, POST /drop, POST /release?seed=N, POST /set?name=value, POST /faults\n"u8.ToArray());
            }
        }
        catch (FormatException e)
        {
            return ("400 Bad Request", Encoding.UTF8.GetBytes(e.Message + "\n"));
        }
    }

    private MockRelease ReleaseOf(IReadOnlyList<KeyValuePair<string, string>> query) =>
        query is [{ Key: "seed", Value: var text }] && ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var seed)
            ? _mock.ReleaseOf(seed) ?? throw new FormatException("This mock makes no releases.")
            : throw new FormatException("A release is asked for by seed=N.");

    /// <summary>Applies all changes of a request, or none if any is invalid.</summary>
    private void Set(IReadOnlyList<KeyValuePair<string, string>> query)
    {
        var only = query.FirstOrDefault(pair => pair.Key == "provider").Value is { } text ? ProviderNumber(text) : (int?)null;
        var changes = new List<Action>();
        foreach (var (name, value) in query.Where(pair => pair.Key != "provider"))
        {
            if (name is "missing" or "corrupt")
                changes.Add(ChangeOfArticles(name, ArticleSelection.Parse(value), only));
            else if (ProviderSettings.Has(name))
                changes.Add(ChangeOfProviders(name, value, only));
            else
                throw new FormatException($"\"{name}\" is no setting.");
        }

        changes.ForEach(change => change());
    }

    private int ProviderNumber(string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number < _mock.Providers.Count
            ? number
            : throw new FormatException($"There is no provider {text}.");

    private Action ChangeOfArticles(string name, ArticleSelection articles, int? only) => (name, only) switch
    {
        ("missing", null) => () => _mock.ChangeMissing(articles),
        ("missing", { } provider) => () => _mock.Change(provider, settings => settings with { Missing = articles }),
        (_, null) => () => _mock.ChangeCorrupt(articles),
        (_, { } provider) => () => _mock.Change(provider, settings => settings with { Corrupt = articles }),
    };

    private Action ChangeOfProviders(string name, string value, int? only)
    {
        // Try the value on a separate provider first, so that an invalid value changes nothing.
        ProviderSettings.Set(new MockProvider(), name, value);
        var concerned = only is { } one ? [one] : Enumerable.Range(0, _mock.Providers.Count);
        return () =>
        {
            foreach (var provider in concerned)
                _mock.Change(provider, settings => ProviderSettings.Set(settings, name, value));
        };
    }
}
