using System.IO.Compression;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Pages;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;

namespace Sluice.Server.Tests.Pages;

/// <summary>A web UI of a few bytes in the format of the real build, and servers with it.</summary>
internal static class BuiltPages
{
    public const string Script = "document.documentElement.dataset.theme = 'dark';";
    public const string Code = "console.log(\"the same words again, and the same words again, and the same words again\");";
    public const string CodePath = "assets/index-DiwrgTda.js";

    private const string Index =
        $"""
        <!doctype html>
        <html lang="en">
          <head>
            <base href="/" />
            <title>Sluice</title>
            <script>{Script}</script>
            <script type="module" src="./{CodePath}"></script>
          </head>
          <body><h1>Sluice</h1></body>
        </html>
        """;

    /// <summary>Starts a server with this web UI.</summary>
    public static Task<RunningServer> StartAsync(TemporaryFolder folder, Dictionary<string, string>? variables = null) =>
        StartAsync(folder, Write(folder), variables);

    /// <summary>Starts a server without a web UI.</summary>
    public static Task<RunningServer> StartWithoutAsync(TemporaryFolder folder) => StartAsync(folder, Path.Combine(folder.Parent, "no-such-folder"), null);

    private static Task<RunningServer> StartAsync(TemporaryFolder folder, string pages, Dictionary<string, string>? variables) =>
        RunningServer.StartAsync(folder, variables, replace: services => services.Replace(ServiceDescriptor.Singleton(new PageFolder(pages))));

    private static string Write(TemporaryFolder folder)
    {
        var root = Path.Combine(folder.Parent, "wwwroot");
        Directory.CreateDirectory(Path.Combine(root, "assets"));
        File.WriteAllText(Path.Combine(root, "index.html"), Index);
        File.WriteAllText(Path.Combine(root, "robots.txt"), "User-agent: *\nDisallow: /\n");
        File.WriteAllText(Path.Combine(root, "assets", "icon-Bq2aX9_-.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
        File.WriteAllText(Path.Combine(root, CodePath), Code);
        using (var brotli = new BrotliStream(File.Create(Path.Combine(root, CodePath + ".br")), CompressionLevel.SmallestSize))
            brotli.Write(Encoding.UTF8.GetBytes(Code));
        using (var gzip = new GZipStream(File.Create(Path.Combine(root, CodePath + ".gz")), CompressionLevel.SmallestSize))
            gzip.Write(Encoding.UTF8.GetBytes(Code));
        return root;
    }
}
