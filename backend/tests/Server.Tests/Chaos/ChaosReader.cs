using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;

namespace Sluice.Server.Tests.Chaos;

/// <summary>A client that reads, seeks, aborts, pauses and reads slowly, and compares every byte received.</summary>
internal sealed class ChaosReader : IDisposable
{
    /// <summary>Small, so that a pausing reader blocks the server after kilobytes, not megabytes.</summary>
    private const int ReceiveBuffer = 8 * 1024;

    private static readonly TimeSpan AfterRefusal = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan TinyPause = TimeSpan.FromMilliseconds(2);

    private readonly HttpClient _http;
    private readonly IReadOnlyList<ChaosFilm> _films;
    private readonly ChaosTally _tally;
    private readonly Heartbeat _time;
    private readonly Random _random;
    private readonly TimeSpan? _longestPause;

    /// <param name="address">The server.</param>
    /// <param name="films">The films to read.</param>
    /// <param name="tally">Counts the outcomes.</param>
    /// <param name="time">The clock of the run.</param>
    /// <param name="seed">Determines the requests and their order.</param>
    /// <param name="longestPause">The longest pause within an answer, at least 5 s; null for a reader without pauses.</param>
    public ChaosReader(Uri address, IReadOnlyList<ChaosFilm> films, ChaosTally tally, Heartbeat time, int seed, TimeSpan? longestPause)
    {
        (_films, _tally, _time, _random, _longestPause) = (films, tally, time, new Random(seed), longestPause);
        var handler = new SocketsHttpHandler
        {
            ConnectCallback = async (context, cancel) =>
            {
                var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveBufferSize = ReceiveBuffer };
                try
                {
                    await socket.ConnectAsync(context.DnsEndPoint, cancel);
                    return new NetworkStream(socket, ownsSocket: true);
                }
                catch
                {
                    socket.Dispose();
                    throw;
                }
            },
        };
        _http = new HttpClient(handler) { BaseAddress = address, Timeout = Timeout.InfiniteTimeSpan };
        _http.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
    }

    /// <summary>Reads until canceled; the request that is then in progress is not counted.</summary>
    public async Task RunAsync(CancellationToken stop)
    {
        try
        {
            while (!stop.IsCancellationRequested)
                await ReadAsync(stop);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
        }
    }

    public void Dispose() => _http.Dispose();

    private Task ReadAsync(CancellationToken stop)
    {
        var film = _films[_random.Next(_films.Count)];
        var from = _random.NextInt64(film.Size - 1);
        return _random.Next(10) switch
        {
            0 or 1 or 2 => RangeAsync("range", film, from, _random.Next(1, 2_000_000), Pace.Fast, stop),
            3 => RangeAsync("probe", film, from, _random.Next(1, 4096), Pace.Fast, stop),
            4 or 5 when _longestPause is not null => RangeAsync("pause", film, from, _random.Next(100_000, 1_500_000), Pace.Pauses, stop),
            6 => RangeAsync("tiny", film, from, _random.Next(1, 150_000), Pace.Tiny, stop),
            7 => SeveralRangesAsync(film, stop),
            _ => SeekAsync(film, from, stop),
        };
    }

    /// <summary>Requests a range and reads all of it.</summary>
    private async Task RangeAsync(string kind, ChaosFilm film, long from, int count, Pace pace, CancellationToken stop)
    {
        count = (int)Math.Min(count, film.Size - from);
        await RequestAsync(kind, film, [(from, count)], new RangeHeaderValue(from, from + count - 1), async (answer, progress) =>
        {
            Expect(answer.Content.Headers.ContentLength == count, $"{kind}: Content-Length is {answer.Content.Headers.ContentLength} for {count}");
            await using var body = await answer.Content.ReadAsStreamAsync(stop);
            await CompareAsync(body, film, from, count, pace, progress, stop);
            Expect(await body.ReadAsync(new byte[1], stop) == 0, $"{kind}: more bytes than were asked for");
        }, stop);
    }

    /// <summary>Requests the rest of the film from an offset, reads a part and drops the connection, as a seeking player does.</summary>
    private async Task SeekAsync(ChaosFilm film, long from, CancellationToken stop)
    {
        var count = (int)Math.Min(_random.Next(1, 1_000_000), film.Size - from);
        await RequestAsync("seek", film, [(from, count)], new RangeHeaderValue(from, null), async (answer, progress) =>
        {
            await using var body = await answer.Content.ReadAsStreamAsync(stop);
            await CompareAsync(body, film, from, count, Pace.Fast, progress, stop);
        }, stop);
    }

    private async Task SeveralRangesAsync(ChaosFilm film, CancellationToken stop)
    {
        // Keeps the ranges apart, because the server merges adjacent ranges.
        var count = _random.Next(2, 5);
        var step = film.Size / count;
        (long From, int Count)[] ranges = [.. Enumerable.Range(0, count).Select(i => (i * step + _random.NextInt64(step / 2), _random.Next(1, (int)Math.Min(200_000, step / 4))))];
        var header = new RangeHeaderValue();
        foreach (var (from, length) in ranges)
            header.Ranges.Add(new RangeItemHeaderValue(from, from + length - 1));
        await RequestAsync("ranges", film, ranges, header, async (answer, progress) =>
        {
            var boundary = answer.Content.Headers.ContentType!.Parameters.Single(parameter => parameter.Name == "boundary").Value!.Trim('"');
            await using var body = await answer.Content.ReadAsStreamAsync(stop);
            foreach (var (from, length) in ranges)
            {
                var head = await ReadHeadAsync(body, stop);
                Expect(head.Contains($"--{boundary}\r\n", StringComparison.Ordinal), $"ranges: no boundary in {head}");
                Expect(head.Contains($"bytes {from}-{from + length - 1}/{film.Size}\r\n", StringComparison.OrdinalIgnoreCase), $"ranges: {from}+{length} is not in {head}");
                progress.Begin(from);
                await CompareAsync(body, film, from, length, Pace.Fast, progress, stop);
            }

            using var rest = new MemoryStream();
            await body.CopyToAsync(rest, stop);
            Expect(Encoding.ASCII.GetString(rest.ToArray()).Contains($"--{boundary}--", StringComparison.Ordinal), "ranges: no end");
        }, stop);
    }

    private async Task RequestAsync(
        string kind, ChaosFilm film, (long From, int Count)[] ranges, RangeHeaderValue range, Func<HttpResponseMessage, Progress, Task> read, CancellationToken stop)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, film.Path);
        request.Headers.Range = range;
        var began = _time.Now;
        TimeSpan? headers = null;
        var progress = new Progress(ranges[0].From);
        var (end, remark) = (ChaosEnd.Whole, "");
        try
        {
            using var answer = await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, stop);
            headers = _time.Since(began);
            if (answer.StatusCode == HttpStatusCode.PartialContent)
                await read(answer, progress);
            else
                (end, remark) = (IsHole(answer, film, ranges) ? ChaosEnd.AtHole : ChaosEnd.Refused, answer.StatusCode.ToString());
        }
        catch (Exception failure) when (failure is IOException or HttpRequestException)
        {
            var elsewhere = headers is null ? ChaosEnd.Refused : ChaosEnd.Cut;
            (end, remark) = (film.HasHole(ranges) ? ChaosEnd.AtHole : elsewhere, $"{failure.GetType().Name} at {progress.Position}: {failure.GetBaseException().Message}");
        }

        Judge(kind, film, progress, end);
        if (end == ChaosEnd.Refused)
            await Task.Delay(AfterRefusal, TimeProvider.System, stop);
        remark = end is ChaosEnd.Cut or ChaosEnd.Refused ? $"{film.Path} {string.Join(',', ranges)} after {headers?.TotalMilliseconds:0} ms: {remark}" : "";
        _tally.Ended(new ChaosTally.Request(kind, began, _time.Now, headers ?? _time.Since(began), end, remark));
    }

    // The server answers 410 if the first byte, or the first byte of one of several ranges, is missing.
    private static bool IsHole(HttpResponseMessage answer, ChaosFilm film, (long From, int Count)[] ranges) =>
        answer.StatusCode == HttpStatusCode.Gone && film.HasHole(ranges);

    // Only an aborted response may contain wrong bytes, and only in its first article, because that is sent before its checksum is known.
    private void Judge(string kind, ChaosFilm film, Progress progress, ChaosEnd end)
    {
        foreach (var wrong in progress.Wrong)
        {
            if (end == ChaosEnd.Whole || !film.IsInLanding(wrong, progress.Landing))
                _tally.IsWrong($"{kind}: wrong byte at {wrong} of {film.Path}, response {end}");
        }
    }

    private async Task CompareAsync(Stream body, ChaosFilm film, long from, int count, Pace pace, Progress progress, CancellationToken stop)
    {
        var buffer = new byte[pace == Pace.Tiny ? 512 : 64 * 1024];
        var truth = new byte[buffer.Length];
        var pauseAt = pace == Pace.Pauses ? _random.Next(1, Math.Min(count, 200_000)) : -1;
        for (var done = 0; done < count;)
        {
            var read = await body.ReadAsync(buffer.AsMemory(0, Math.Min(buffer.Length, count - done)), stop);
            if (read == 0)
            {
                _tally.IsWrong($"an answer of {count} from {from} of {film.Path} ended complete after {done}");
                return;
            }

            film.Fill(from + done, truth.AsSpan(0, read));
            if (!buffer.AsSpan(0, read).SequenceEqual(truth.AsSpan(0, read)))
                progress.Wrong.Add(from + done + buffer.AsSpan(0, read).CommonPrefixLength(truth.AsSpan(0, read)));
            done += read;
            progress.Position = from + done;
            _tally.BytesRead(read);
            if (pauseAt >= 0 && done >= pauseAt)
            {
                pauseAt = -1;
                await Task.Delay(TimeSpan.FromSeconds(5) + (_random.NextDouble() * (_longestPause!.Value - TimeSpan.FromSeconds(5))), TimeProvider.System, stop);
            }
            else if (pace == Pace.Tiny && _random.Next(16) == 0)
            {
                await Task.Delay(TinyPause, TimeProvider.System, stop);
            }
        }
    }

    private void Expect(bool condition, string what)
    {
        if (!condition)
            _tally.IsWrong(what);
    }

    /// <summary>Reads the header lines of a part byte by byte, because the bytes after them belong to the part.</summary>
    private static async Task<string> ReadHeadAsync(Stream body, CancellationToken stop)
    {
        var head = new StringBuilder();
        var one = new byte[1];
        while (!head.ToString().EndsWith("\r\n\r\n", StringComparison.Ordinal) || head.Length < 8)
        {
            if (head.Length > 2_000 || await body.ReadAsync(one, stop) == 0)
                break;
            head.Append((char)one[0]);
        }

        return head.ToString();
    }

    private enum Pace
    {
        Fast,
        Tiny,
        Pauses,
    }

    /// <summary>The position within an answer, and the offsets of its wrong bytes.</summary>
    private sealed class Progress(long landing)
    {
        public long Landing { get; private set; } = landing;

        public long Position { get; set; } = landing;

        public List<long> Wrong { get; } = [];

        public void Begin(long from) => Landing = from;
    }
}
