namespace Sluice.Server.Tests.Layers;

/// <summary>The import table: a folder may use those before it, or less where it says so.</summary>
internal static class LayerOrder
{
    private static readonly string[] Engine =
    [
        "Nzb", "Nntp", "Nntp/Wire", "Nntp/Health", "Nntp/Admission", "Nntp/Connections", "Nntp/Fetching", "Yenc",
        "Streams", "Streams/Maps", "Streams/Memory", "Streams/Cache", "Streams/Proof", "Streams/Loading", "Streams/Reading", "Media", "Media/Tracks", "Media/Titles", "Media/Subtitles", "Par2", "Probing", "Archives",
    ];

    // Of an NZB the road of an article knows the name of the article, and of its bytes nothing.
    private static readonly Dictionary<string, string[]> NameOfArticle = new() { ["Nzb"] = ["MessageId"], ["Yenc"] = [] };

    // A clip, a cache or a test can be the source of articles: only the seam, its answers, its lanes and what a fetch throws.
    private static readonly Dictionary<string, string[]> SourceOfArticles = new()
    {
        ["Nntp"] =
        [
            "IArticleSource", "IArticleSink", "ArticleRequest", "ArticleReply", "ArticleMissing", "ProviderSet",
            "OperationLane", "FetchUrgency", "FetchSnapshot", "NntpException", "NntpFault",
        ],
    };

    /// <summary>All folders from left to right. The diagram of docs/architecture.md shows those that exist, in this order.</summary>
    public static readonly IReadOnlyList<Layer> All =
    [
        // Small things that all others may use, WebDav too; they use none of them.
        new("Usenet", "Primitives") { Uses = [] },
        new("Usenet", "Nzb"),
        // Yenc and Media can each be read, tested and replaced alone.
        new("Usenet", "Yenc") { Uses = [] },
        // The words of all that fetch; then its rooms, from the socket to the article.
        new("Usenet", "Nntp") { HasRooms = true, Sees = NameOfArticle },
        new("Usenet", "Nntp/Wire") { Sees = NameOfArticle, UsedBy = ["Nntp/Health", "Nntp/Connections", "Nntp/Fetching"] },
        new("Usenet", "Nntp/Health") { Sees = NameOfArticle, UsedBy = ["Nntp/Admission", "Nntp/Connections", "Nntp/Fetching", "Providers"] },
        // The gates know neither sockets nor the wire.
        new("Usenet", "Nntp/Admission") { Sees = NameOfArticle, UsedBy = ["Nntp/Connections", "Nntp/Fetching", "Providers", "FullNzbTester"] },
        new("Usenet", "Nntp/Connections") { Sees = NameOfArticle, UsedBy = ["Nntp/Fetching"] },
        new("Usenet", "Nntp/Fetching") { Sees = NameOfArticle, UsedBy = ["Providers", "FullNzbTester"] },
        // The words of all that read; then its rooms, as the bytes flow.
        new("Usenet", "Streams") { HasRooms = true, Sees = SourceOfArticles },
        new("Usenet", "Streams/Maps") { Sees = SourceOfArticles },
        new("Usenet", "Streams/Memory") { Sees = SourceOfArticles },
        new("Usenet", "Streams/Cache") { Sees = SourceOfArticles },
        new("Usenet", "Streams/Proof") { Sees = SourceOfArticles },
        new("Usenet", "Streams/Loading") { Sees = SourceOfArticles },
        new("Usenet", "Streams/Reading") { Sees = SourceOfArticles },
        new("Usenet", "Media") { Uses = [], HasRooms = true },
        new("Usenet", "Media/Tracks") { Uses = ["Media"] },
        new("Usenet", "Media/Titles") { Uses = [] },
        new("Usenet", "Media/Subtitles") { Uses = ["Media", "Media/Tracks"] },
        new("Usenet", "Par2"),
        new("Usenet", "Probing"),
        new("Usenet", "Archives"),

        new("Server", "Database"),
        new("Server", "Settings"),
        new("Server", "Backups"),
        new("Server", "Diagnostics"),
        new("Server", "Listening"),
        new("Server", "Auth"),
        new("Server", "Outbound"),
        new("Server", "Arr"),
        new("Server", "Events"),
        new("Server", "Cluster"),
        new("Server", "Providers"),
        new("Server", "Library"),
        new("Server", "Playbacks"),
        new("Server", "History"),
        // The rows of the queue; then how NZBs come into it, and how they become releases.
        new("Server", "Queue") { HasRooms = true },
        new("Server", "Queue/Intake"),
        new("Server", "Queue/Steps"),
        new("Server", "Health"),
        new("Server", "FamilyImport"),
        // The protocol runs over any store, so it knows none; three contracts, three edges that never meet.
        // The contract of a tree and the words of the protocol; then its rooms, from the parts of a request to the verbs.
        new("Server", "WebDav")
        {
            HasRooms = true,
            Uses = ["Primitives"],
            UsedBy = ["WebDav/Xml", "WebDav/Locks", "WebDav/Properties", "WebDav/Content", "WebDav/Handlers", "WebDav/Tree", Layer.Root],
        },
        new("Server", "WebDav/Xml") { Uses = ["WebDav"], UsedBy = ["WebDav/Locks", "WebDav/Properties", "WebDav/Handlers"] },
        new("Server", "WebDav/Locks") { Uses = ["WebDav", "WebDav/Xml"], UsedBy = ["WebDav/Handlers"] },
        new("Server", "WebDav/Properties") { Uses = ["WebDav", "WebDav/Xml"], UsedBy = ["WebDav/Handlers"] },
        new("Server", "WebDav/Content") { Uses = ["Primitives", "WebDav"], UsedBy = ["WebDav/Handlers"] },
        new("Server", "WebDav/Handlers")
        {
            Uses = ["Primitives", "WebDav", "WebDav/Xml", "WebDav/Locks", "WebDav/Properties", "WebDav/Content"],
            UsedBy = ["WebDav/Tree", Layer.Root],
        },
        new("Server", "WebDav/Tree")
        {
            Uses = ["Primitives", "WebDav", "WebDav/Handlers", "Library", "Playbacks", "Queue", "Queue/Intake", "History", "Health", "Auth"],
            UsedBy = [Layer.Root],
        },
        new("Server", "SabApi") { UsedBy = [Layer.Root] },
        new("Server", "AdminApi") { UsedBy = [Layer.Root] },
        new("Server", "Pages") { Uses = ["Auth"], UsedBy = [Layer.Root] },
        new("Server", Layer.Root),

        // An encoder that shared code with the decoder would share its mistakes.
        new("Tools", "MockNntpServer") { Uses = [] },
        // The tester measures the engine; the server is another process to it.
        new("Tools", "FullNzbTester") { Uses = [.. Engine, "MockNntpServer"] },
    ];

    /// <summary>What each project may reference, as the import table says it for whole projects.</summary>
    public static readonly IReadOnlyDictionary<string, string[]> ProjectReferences = new Dictionary<string, string[]>
    {
        ["backend/src/Usenet/Usenet.csproj"] = [],
        ["backend/src/Server/Server.csproj"] = ["Usenet.csproj"],
        ["tools/MockNntpServer/MockNntpServer.csproj"] = [],
        ["tools/FullNzbTester/FullNzbTester.csproj"] = ["Usenet.csproj", "MockNntpServer.csproj"],
    };
}
