using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>
/// Serves articles from a file in the format of an NNTP server (RFC 3977, section 6.2.1). For any other message-id it reports that no provider is configured,
/// because that article may well exist.
/// </summary>
internal sealed class ClipArticleSource : IArticleSource
{
    // Maximum bytes per write, the same as the chunks of a connection.
    private const int MaxWriteBytes = 256 << 10;

    private readonly Dictionary<MessageId, ReadOnlyMemory<byte>> _bodies = [];
    private readonly List<MessageId> _ids = [];

    /// <summary>Indexes all articles in a file.</summary>
    /// <param name="articles">Consecutive articles, each with headers, an empty line, a dot-stuffed body and the terminating line.</param>
    /// <exception cref="InvalidDataException">The file has another format.</exception>
    public ClipArticleSource(ReadOnlyMemory<byte> articles)
    {
        while (!articles.IsEmpty)
        {
            var headers = articles.Span.IndexOf("\r\n\r\n"u8);
            var end = articles.Span.IndexOf("\r\n.\r\n"u8) + "\r\n.\r\n"u8.Length;
            if (headers < 0 || end < headers + 4 || !TryReadId(articles.Span[..headers], out var id))
                throw new InvalidDataException("The built-in articles are damaged.");

            _ids.Add(id);
            _bodies.Add(id, articles[(headers + 4)..end]);
            articles = articles[end..];
        }

        if (_ids.Count == 0)
            throw new InvalidDataException("There are no built-in articles.");
    }

    public int ProviderCount => 1;

    /// <summary>The message-ids in file order.</summary>
    public IReadOnlyList<MessageId> Ids => _ids;

    /// <summary>The raw body of an article, including the terminating line.</summary>
    public ReadOnlyMemory<byte> BodyOf(MessageId id) => _bodies[id];

    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!_bodies.TryGetValue(request.Id, out var body))
            throw new NntpException(NntpFault.NoProvider, "No provider is configured.");
        if (request.Excluded.Contains(0))
            return new ValueTask<ArticleReply>(ArticleReply.MissingEverywhere(new ArticleMissing(0, 0)));

        sink.Start(0);
        while (!body.IsEmpty)
        {
            var block = body[..Math.Min(MaxWriteBytes, body.Length)];
            if (sink.Write(block.Span, out _))
                break;
            body = body[block.Length..];
        }

        return new ValueTask<ArticleReply>(ArticleReply.FoundAt(0));
    }

    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var here = default(ProviderSet).With(0);
        for (var i = 0; i < request.Ids.Length; i++)
        {
            // Other articles stay unknown, because there is no provider to ask.
            var isHere = !request.Excluded.Contains(0) && _bodies.ContainsKey(request.Ids.Span[i]);
            answers.Span[i] = isHere ? new ArticlePresence(here, default, default) : default;
        }

        return ValueTask.CompletedTask;
    }

    private static bool TryReadId(ReadOnlySpan<byte> headers, out MessageId id)
    {
        var name = "Message-ID:"u8;
        foreach (var range in headers.Split("\r\n"u8))
        {
            var line = headers[range];
            if (line.StartsWith(name))
                return MessageId.TryParse(line[name.Length..], out id);
        }

        id = default;
        return false;
    }
}
