using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Security.Authentication;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Outbound;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>The result of one attempt to fetch an NZB.</summary>
/// <param name="Failure">Why no retry can succeed, or null.</param>
/// <param name="Again">Why to retry later, or null. Never contains the address, because it may hold a key.</param>
/// <param name="After">Delay that the host requested, or null.</param>
/// <param name="Counts">Whether this attempt counts toward the maximum.</param>
internal sealed record UrlFetchEnd(ImportFailure? Failure = null, string? Again = null, TimeSpan? After = null, bool Counts = true);

/// <summary>One attempt to fetch the NZB of an item from its address (SAB-25).</summary>
internal sealed class UrlFetch(GuardedClient client, UploadReceiver receiver, NzbIntake intake, TimeProvider time)
{
    /// <summary>Timeout of the whole attempt, from the DNS query to the last byte.</summary>
    public static readonly TimeSpan Deadline = TimeSpan.FromSeconds(60);

    /// <summary>Maximum bytes of a body, compressed or decompressed.</summary>
    public const long MaxBytes = BlobStore.MaxNzbBytes;

    private static readonly HttpStatusCode[] Passing =
    [
        HttpStatusCode.TooManyRequests, HttpStatusCode.InternalServerError, HttpStatusCode.BadGateway, HttpStatusCode.ServiceUnavailable,
    ];

    public async Task<UrlFetchEnd> RunAsync(string id, Uri url, CancellationToken stopping)
    {
        using var deadline = new CancellationTokenSource(Deadline, time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(stopping, deadline.Token);
        try
        {
            using var answer = await client.GetAsync(url, cancel.Token);
            return answer.IsSuccessStatusCode ? await ReceiveAsync(id, answer, cancel.Token) : Judge(answer);
        }
        catch (AddressRefusedException e)
        {
            return e.IsRedirect ? Failed(e.Message) : new UrlFetchEnd(ImportFailure.UrlRefused());
        }
        catch (StorageException)
        {
            return NoRoom();
        }
        catch (OperationCanceledException) when (!stopping.IsCancellationRequested)
        {
            return new UrlFetchEnd(Again: string.Create(CultureInfo.InvariantCulture, $"no answer within {Deadline.TotalSeconds} s"));
        }
        catch (HttpRequestException e) when (e.InnerException is AuthenticationException)
        {
            return Failed("the certificate of the host is not trusted");
        }
        catch (HttpRequestException e) when (e.InnerException is SocketException { SocketErrorCode: SocketError.HostNotFound or SocketError.NoData })
        {
            return Failed("there is no host of this name");
        }
        catch (Exception e) when (e is HttpRequestException or IOException)
        {
            return new UrlFetchEnd(Again: "the connection to the host failed");
        }
    }

    private async Task<UrlFetchEnd> ReceiveAsync(string id, HttpResponseMessage answer, CancellationToken cancellationToken)
    {
        var length = answer.Content.Headers.ContentLength;
        if (length > MaxBytes)
            return TooLarge();

        await using var body = new CappedStream(await answer.Content.ReadAsStreamAsync(cancellationToken));
        // Skip the queue limit, because the item is already in the queue.
        await using var upload = await receiver.ReceiveAsync(body, length, keepsPacked: false, cancellationToken);
        return upload.Refusal switch
        {
            AddRefusal.TooLarge => TooLarge(),
            AddRefusal.TooSlow => new UrlFetchEnd(Again: "it came too slowly"),
            null when await intake.AcceptFetchedAsync(id, upload, NameOf(answer)) is null => new UrlFetchEnd(),
            _ => NoRoom(),
        };
    }

    /// <summary>Returns the file name sent by the host, or else the last segment of the path.</summary>
    private static string NameOf(HttpResponseMessage answer)
    {
        var disposition = answer.Content.Headers.ContentDisposition;
        var given = (disposition?.FileNameStar ?? disposition?.FileName ?? "").Trim('"', ' ');
        // Strip any path, because it belongs to another machine.
        given = given[(given.LastIndexOfAny(['/', '\\']) + 1)..];
        if (given.Length > 0)
            return given;
        var url = answer.RequestMessage!.RequestUri!;
        var last = Uri.UnescapeDataString(url.Segments[^1].TrimEnd('/'));
        return last.Length > 0 ? last : url.Host;
    }

    private UrlFetchEnd Judge(HttpResponseMessage answer)
    {
        var status = string.Create(CultureInfo.InvariantCulture, $"HTTP {(int)answer.StatusCode}");
        if (!Passing.Contains(answer.StatusCode))
            return Failed(status);
        var retry = answer.Headers.RetryAfter;
        return new UrlFetchEnd(Again: status, After: retry?.Delta ?? retry?.Date - time.WallTime());
    }

    private static UrlFetchEnd Failed(string cause) => new(ImportFailure.UrlFetchFailed(cause));

    private static UrlFetchEnd TooLarge() => new(ImportFailure.NzbTooLarge($"more than {MaxBytes >> 20} MiB"));

    /// <summary>A local storage error, which must not count as an attempt (IMP-81).</summary>
    private static UrlFetchEnd NoRoom() => new(Again: "it cannot be stored at the moment", Counts: false);

    /// <summary>Limits the body to the maximum size of an NZB, compressed or not.</summary>
    private sealed class CappedStream(Stream body) : ForwardStream
    {
        private long _read;

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var read = await body.ReadAsync(buffer, cancellationToken);
            _read += read;
            return _read <= MaxBytes ? read : throw new BlobTooLargeException(MaxBytes);
        }
    }
}
