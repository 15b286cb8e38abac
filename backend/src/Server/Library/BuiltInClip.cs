using System.Buffers;
using Sluice.Server.Auth;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.Library;

/// <summary>
/// The film that can be played while no provider is configured (DAV-7): 12 s of ffmpeg's test picture with a tone, embedded as
/// yEnc articles in the assembly and read like any other release. <c>tools/DemoClip.cs</c> makes the articles.
/// </summary>
internal sealed class BuiltInClip
{
    /// <summary>Its category folder; never a category of the user.</summary>
    public const string Category = "demo";

    /// <summary>The id of its file.</summary>
    public static readonly Guid FileId = new("d3305eed-0000-4000-8000-511ce0000001");

    private const string ResourceName = "Sluice.Server.Library.demo-clip.articles";

    private static readonly DateTimeOffset MadeAt = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    // Both are read when they are asked for: a server with providers has no use for them, and a start none for the film.
    private readonly Lazy<ClipArticleSource> _source;
    private readonly Lazy<(PostedFile Posted, LibraryFile File)> _film;

    /// <summary>The film of the assembly.</summary>
    public BuiltInClip()
        : this(LoadArticles)
    {
    }

    /// <summary>Another file of articles.</summary>
    /// <param name="articles">Asked once. Where it gives no yEnc articles, <see cref="File"/> and <see cref="Extents"/> fail with an <see cref="InvalidDataException"/>.</param>
    internal BuiltInClip(Func<byte[]> articles)
    {
        _source = new(() => new ClipArticleSource(articles()));
        _film = new(() => Read(_source.Value));
    }

    /// <summary>The source of its articles.</summary>
    public IArticleSource Source => _source.Value;

    /// <summary>The film; directly in its category folder.</summary>
    public LibraryFile File => _film.Value.File;

    /// <summary>The posted file that it is made of.</summary>
    public IReadOnlyList<FileExtent> Extents => [FileExtent.Whole(_film.Value.Posted)];

    /// <summary>The articles as they are embedded.</summary>
    internal static byte[] LoadArticles()
    {
        using var resource = typeof(BuiltInClip).Assembly.GetManifestResourceStream(ResourceName)
            ?? throw new InvalidDataException("The built-in clip is not part of this build.");
        var articles = new byte[resource.Length];
        resource.ReadExactly(articles);
        return articles;
    }

    private static (PostedFile Posted, LibraryFile File) Read(ClipArticleSource source)
    {
        var headers = source.Ids.Select(id => ReadHeader(source.BodyOf(id).Span)).ToList();
        var map = SegmentMap.FromLengths([.. headers.Select(header => header.Length)]);
        var file = new LibraryFile
        {
            Id = FileId,
            Release = new Release(0, Category, Category, "", MadeAt),
            Path = headers[0].Name,
            Length = map.Length,
            ETag = ContentTag.Of([ContentTag.HashIds(source.Ids.Select(ClipIds.Only))], "", map.Length),
            Content = ContentMap.Pack(new FileContent([new ContentExtent(0, 0, map.Length)])),
        };
        return (new PostedFile(map, new ClipIds(source.Ids)), file);
    }

    private static (string Name, long Length) ReadHeader(ReadOnlySpan<byte> body)
    {
        var decoder = new ArticleDecoder();
        var decoded = new ArrayBufferWriter<byte>();
        decoder.Decode(body, decoded, out _);
        return decoder.Header.PartLength is { } length
            ? (decoder.Header.Name, length)
            : throw new InvalidDataException("The built-in articles are damaged.");
    }

    private sealed class ClipIds(IReadOnlyList<MessageId> ids) : ISegmentIds
    {
        public int Count => ids.Count;

        public static SegmentIds Only(MessageId id) => new(id, []);

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(Only(ids[index]));
    }
}

/// <summary>Points to the built-in clip at the first start, while no provider is configured.</summary>
internal sealed class ClipWelcome(BuiltInClip clip, ProviderHost providers) : IWelcomePath
{
    /// <inheritdoc/>
    public string Title => "Film";

    /// <inheritdoc/>
    public string? Path => providers.HasProviders ? null : $"/content/{BuiltInClip.Category}/{Uri.EscapeDataString(clip.File.Name)}";
}
