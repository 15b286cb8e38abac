namespace Sluice.Server.Tests.Layers;

/// <summary>The import table: a folder may use the folders before it, or fewer if its entry says so.</summary>
internal static class LayerOrder
{
    private static readonly string[] Engine =
    [
        "Nzb", "Nntp", "Nntp/Wire", "Nntp/Health", "Nntp/Admission", "Nntp/Connections", "Nntp/Fetching", "Yenc",
        "Streams", "Streams/Maps", "Streams/Memory", "Streams/Cache", "Streams/Proof", "Streams/Loading", "Streams/Reading", "Media", "Media/Tracks", "Media/Titles", "Media/Subtitles", "Par2", "Probing", "Archives",
    ];

    // Fetching needs only the message-id of an NZB, and nothing of the yEnc decoder.
    private static readonly Dictionary<string, string[]> NameOfArticle = new() { ["Nzb"] = ["MessageId"], ["Yenc"] = [] };

    // A clip, a cache or a test can also be the source of articles, so streams see only the interface of a fetch with its types and exceptions.
    private static readonly Dictionary<string, string[]> SourceOfArticles = new()
    {
        ["Nntp"] =
        [
            "IArticleSource", "IArticleSink", "ArticleRequest", "ArticleReply", "ArticleMissing", "ProviderSet",
            "OperationLane", "FetchUrgency", "IChargedReader", "ReaderAccount", "FetchSnapshot", "NntpException", "NntpFault",
        ],
    };

    /// <summary>All folders from left to right. The diagram in docs/architecture.md shows the existing ones in this order.</summary>
    public static readonly IReadOnlyList<Layer> All =
    [
        // Small types that all folders may use, including WebDav; they use no folder.
        new("Usenet", "Primitives") { Uses = [] },
        new("Usenet", "Nzb"),
        // Yenc and Media can each be read, tested and replaced on their own.
        new("Usenet", "Yenc") { Uses = [] },
        // The shared types of fetching, then its rooms from the socket to the article.
        new("Usenet", "Nntp") { HasRooms = true, Sees = NameOfArticle },
        new("Usenet", "Nntp/Wire") { Sees = NameOfArticle, UsedBy = ["Nntp/Health", "Nntp/Connections", "Nntp/Fetching"] },
        new("Usenet", "Nntp/Health") { Sees = NameOfArticle, UsedBy = ["Nntp/Admission", "Nntp/Connections", "Nntp/Fetching", "Providers"] },
        // The gates know neither sockets nor commands.
        new("Usenet", "Nntp/Admission") { Sees = NameOfArticle, UsedBy = ["Nntp/Connections", "Nntp/Fetching", "Providers", "FullNzbTester"] },
        new("Usenet", "Nntp/Connections") { Sees = NameOfArticle, UsedBy = ["Nntp/Fetching"] },
        new("Usenet", "Nntp/Fetching") { Sees = NameOfArticle, UsedBy = ["Providers", "FullNzbTester"] },
        // The shared types of reading, then its rooms in the order of the bytes.
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
        // The rows of the queue, then the intake of NZBs, then the steps of an import.
        new("Server", "Queue") { HasRooms = true },
        new("Server", "Queue/Intake"),
        new("Server", "Queue/Steps"),
        new("Server", "Health"),
        new("Server", "FamilyImport"),
        // WebDAV works over any store, so it uses none.
        // The interfaces of a tree and the shared types of the protocol, then its rooms from the parts of a request to the verbs.
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

        // The mock shares no code with the product, because an encoder would share the mistakes of the decoder.
        new("Tools", "MockNntpServer") { Uses = [] },
        // The tester measures the engine, and runs the server only as a process.
        new("Tools", "FullNzbTester") { Uses = [.. Engine, "MockNntpServer"] },
    ];

    /// <summary>The allowed references of each project.</summary>
    public static readonly IReadOnlyDictionary<string, string[]> ProjectReferences = new Dictionary<string, string[]>
    {
        ["backend/src/Usenet/Usenet.csproj"] = [],
        ["backend/src/Server/Server.csproj"] = ["Usenet.csproj"],
        ["tools/MockNntpServer/MockNntpServer.csproj"] = [],
        ["tools/FullNzbTester/FullNzbTester.csproj"] = ["Usenet.csproj", "MockNntpServer.csproj"],
    };
}
