using System.Buffers;
using Sluice.Server.Auth;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.Library;

/// <summary>
/// The clip that plays while no provider is configured (DAV-7): 12 s of ffmpeg's test picture with a tone. It is embedded as yEnc articles, so that it is read
/// like any other release. <c>tools/DemoClip.cs</c> generates the articles.
/// </summary>
internal sealed class BuiltInClip
{
    /// <summary>The category folder, which is reserved for the clip.</summary>
    public const string Category = "demo";

    public static readonly Guid FileId = new("d3305eed-0000-4000-8000-511ce0000001");

    private const string ResourceName = "Sluice.Server.Library.demo-clip.articles";

    private static readonly DateTimeOffset MadeAt = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    // Lazy, because a server with providers never needs the clip.
    private readonly Lazy<ClipArticleSource> _source;
    private readonly Lazy<(PostedFile Posted, LibraryFile File)> _film;

    public BuiltInClip()
        : this(LoadArticles)
    {
    }

    /// <summary>For tests. <see cref="File"/> and <see cref="Extents"/> throw <see cref="InvalidDataException"/> if the articles are not yEnc.</summary>
    internal BuiltInClip(Func<byte[]> articles)
    {
        _source = new(() => new ClipArticleSource(articles()));
        _film = new(() => Read(_source.Value));
    }

    public IArticleSource Source => _source.Value;

    /// <summary>The clip's file, directly in its category folder.</summary>
    public LibraryFile File => _film.Value.File;

    public IReadOnlyList<FileExtent> Extents => [FileExtent.Whole(_film.Value.Posted)];

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

/// <summary>Links to the built-in clip at the first startup, if no provider is configured.</summary>
internal sealed class ClipWelcome(BuiltInClip clip, ProviderHost providers) : IWelcomePath
{
    public string Title => "Film";

    public string? Path => providers.HasProviders ? null : $"/content/{BuiltInClip.Category}/{Uri.EscapeDataString(clip.File.Name)}";
}
