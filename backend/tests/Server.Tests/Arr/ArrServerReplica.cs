using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Arr;

namespace Sluice.Server.Tests.Arr;

/// <summary>
/// The part of the public API of Sonarr and Radarr that concerns download clients: status, download clients with schema, test and
/// validation, folders and remote path mappings. Its test of a client calls the client, as theirs does.
/// </summary>
internal sealed class ArrServerReplica : IAsyncDisposable
{
    public const string Key = "a5f0c3d1e2b4968778695a4b3c2d1e0f";

    private readonly WebApplication _app;
    private readonly string _categoryField;
    private readonly Lock _gate = new();
    private readonly List<JsonObject> _clients = [];
    private int _next = 1;

    private ArrServerReplica(WebApplication app, string name, string version)
    {
        (_app, Name, Version) = (app, name, version);
        _categoryField = name switch { "Radarr" => "movieCategory", "Sonarr" => "tvCategory", _ => "musicCategory" };
    }

    public string Name { get; }

    public string Version { get; }

    public string Url => _app.Urls.First().TrimEnd('/');

    /// <summary>Folders, each with a trailing slash.</summary>
    public HashSet<string> Folders { get; } = ["/", "/mnt/", "/config/"];

    /// <summary>Full paths of the files.</summary>
    public HashSet<string> Files { get; } = [];

    /// <summary>Whether it lists folders of this machine instead.</summary>
    public bool ReadsDisk { get; set; }

    /// <summary>Its remote path mappings.</summary>
    public List<(string Host, string Remote, string Local)> Mappings { get; } = [];

    /// <summary>Replacements for host names that only its own network resolves.</summary>
    public Dictionary<string, string> Names { get; } = [];

    /// <summary>Imported series or films by the ids of their downloads.</summary>
    public ConcurrentDictionary<string, int> Imports { get; } = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Posters by the ids of series or films.</summary>
    public ConcurrentDictionary<int, byte[]> Posters { get; } = new();

    /// <summary>Whether a login page of a reverse proxy answers every request.</summary>
    public bool IsBehindLogin { get; set; }

    /// <summary>Number of requests that the login page has answered.</summary>
    public int Refused { get; private set; }

    /// <summary>Method and path of every call with the right key.</summary>
    public ConcurrentQueue<string> Calls { get; } = new();

    /// <summary>Copies of its download clients.</summary>
    public IReadOnlyList<JsonObject> Clients
    {
        get
        {
            lock (_gate)
                return [.. _clients.Select(client => (JsonObject)client.DeepClone())];
        }
    }

    public static async Task<ArrServerReplica> StartAsync(string name, string version = "4.0.9.2244")
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().UseUrls("http://127.0.0.1:0");
        builder.Services.AddRouting();
        var app = builder.Build();
        var replica = new ArrServerReplica(app, name, version);
        replica.Map(name is "Lidarr" or "Readarr" ? "/api/v1" : "/api/v3");
        await app.StartAsync();
        return replica;
    }

    /// <summary>Returns the value of a field of a client.</summary>
    public static string Field(JsonObject client, string name) =>
        client["fields"]!.AsArray().Single(field => field!["name"]!.GetValue<string>() == name)!["value"]?.ToString() ?? "";

    /// <summary>Adds a folder and its parents.</summary>
    public void AddFolder(string path)
    {
        for (var end = path.IndexOf('/', 1); end > 0; end = path.IndexOf('/', end + 1))
            Folders.Add(path[..(end + 1)]);
    }

    /// <summary>Adds the mount as rclone presents it, with links or with their text files.</summary>
    public void AddMount(string path, bool hasLinks = true)
    {
        AddFolder($"{path}/{PathDoctor.ProbePath[..(PathDoctor.ProbePath.LastIndexOf('/') + 1)]}");
        AddFolder($"{path}/content/");
        Files.UnionWith([$"{path}/{PathDoctor.ProbeTarget}", $"{path}/{PathDoctor.ProbePath}{(hasLinks ? "" : PathDoctor.LinkText)}"]);
    }

    /// <summary>Changes a client, as a user may.</summary>
    public void Change(int index, Action<JsonObject> change)
    {
        lock (_gate)
            change(_clients[index]);
    }

    /// <summary>Changes a field of a client, as a user may.</summary>
    public void Change(int index, string field, JsonNode value) =>
        Change(index, client => client["fields"]!.AsArray().Single(other => other!["name"]!.GetValue<string>() == field)!["value"] = value);

    /// <summary>Adds a SABnzbd client, as a user may.</summary>
    public void AddSabnzbd(string name, string host, int port, bool useSsl, string urlBase, string apiKey)
    {
        int index;
        lock (_gate)
        {
            var client = Template("Sabnzbd");
            (client["id"], client["name"]) = (_next++, name);
            index = _clients.Count;
            _clients.Add(client);
        }

        foreach (var (field, value) in new (string, JsonNode)[] { ("host", host), ("port", port), ("useSsl", useSsl), ("urlBase", urlBase), ("apiKey", apiKey), (_categoryField, "tv") })
            Change(index, field, value);
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync();
        await _app.DisposeAsync();
    }

    private void Map(string root)
    {
        _app.Use(async (context, next) =>
        {
            if (IsBehindLogin)
            {
                Refused++;
                context.Response.Redirect("/login");
            }
            else if (context.Request.Headers["X-Api-Key"] != Key)
                context.Response.StatusCode = StatusCodes.Status401Unauthorized;
            else
            {
                Calls.Enqueue($"{context.Request.Method} {context.Request.Path}");
                await next(context);
            }
        });
        _app.UseRouting();
        On("GET", "/system/status", _ => new JsonObject { ["appName"] = Name, ["instanceName"] = Name, ["version"] = Version, ["isDocker"] = true, ["urlBase"] = "" });
        On("GET", "/downloadclient", _ => new JsonArray([.. Clients.Select(Masked)]));
        On("GET", "/downloadclient/schema", _ => new JsonArray(Template("Sabnzbd"), Template("Transmission")));
        On("GET", "/remotepathmapping", _ => new JsonArray([.. Mappings.Select((mapping, i) =>
            new JsonObject { ["id"] = i + 1, ["host"] = mapping.Host, ["remotePath"] = mapping.Remote, ["localPath"] = mapping.Local })]));
        On("GET", "/filesystem", Filesystem);
        On("GET", "/history", History);
        _app.MapGet(root + "/mediacover/{id:int}/poster-250.jpg", (RequestDelegate)(async context =>
        {
            if (Posters.TryGetValue(int.Parse((string)context.Request.RouteValues["id"]!, CultureInfo.InvariantCulture), out var poster))
                await context.Response.BodyWriter.WriteAsync(poster, context.RequestAborted);
            else
                context.Response.StatusCode = StatusCodes.Status404NotFound;
        }));
        OnBody("POST", "/downloadclient/test", async (_, client) => (await FailuresAsync(Shown(client))) is { } failures ? (400, failures) : (200, new JsonObject()));
        OnBody("POST", "/downloadclient", (_, client) => Task.FromResult(Save(client, _next++, 201)));
        OnBody("PUT", "/downloadclient/{id:int}", (context, client) =>
            Task.FromResult(Save(client, int.Parse((string)context.Request.RouteValues["id"]!, CultureInfo.InvariantCulture), 202)));

        void On(string method, string path, Func<HttpContext, JsonNode> answer) =>
            _app.MapMethods(root + path, [method], (RequestDelegate)(context => WriteAsync(context, 200, answer(context))));
        void OnBody(string method, string path, Func<HttpContext, JsonObject, Task<(int, JsonNode)>> answer) =>
            _app.MapMethods(root + path, [method], (RequestDelegate)(async context =>
            {
                var body = (JsonObject)(await JsonNode.ParseAsync(context.Request.Body, cancellationToken: context.RequestAborted))!;
                var (status, node) = await answer(context, body);
                await WriteAsync(context, status, node);
            }));
    }

    private static Task WriteAsync(HttpContext context, int status, JsonNode node)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        return context.Response.WriteAsync(node.ToJsonString(), context.RequestAborted);
    }

    private JsonObject Template(string implementation)
    {
        string[] names = ["host", "port", "useSsl", "urlBase", "apiKey", "username", "password", _categoryField, "recentTvPriority"];
        return new JsonObject
        {
            ["enable"] = true,
            ["protocol"] = "usenet",
            ["priority"] = 1,
            ["removeCompletedDownloads"] = true,
            ["removeFailedDownloads"] = true,
            ["name"] = "",
            ["fields"] = new JsonArray([.. names.Select((name, i) => new JsonObject { ["order"] = i, ["name"] = name, ["label"] = name, ["type"] = "textbox" })]),
            ["implementationName"] = implementation,
            ["implementation"] = implementation,
            ["configContract"] = implementation + "Settings",
            ["tags"] = new JsonArray(),
            ["presets"] = new JsonArray(),
        };
    }

    /// <summary>Masks secrets, as the real programs do since version 4.</summary>
    private static JsonObject Masked(JsonObject client)
    {
        foreach (var field in client["fields"]!.AsArray().Where(field => field!["name"]!.GetValue<string>() is "apiKey" or "password"))
            field!["value"] = "********";
        return client;
    }

    /// <summary>Returns the client with each masked secret replaced by the stored one.</summary>
    private JsonObject Shown(JsonObject client)
    {
        var shown = (JsonObject)client.DeepClone();
        lock (_gate)
        {
            if (_clients.Find(other => other["id"]?.ToString() == shown["id"]?.ToString()) is { } kept)
            {
                foreach (var field in shown["fields"]!.AsArray().Where(field => field!["value"]?.ToString() == "********"))
                    field!["value"] = Field(kept, field["name"]!.ToString());
            }
        }

        return shown;
    }

    private (int Status, JsonNode Answer) Save(JsonObject client, int id, int status)
    {
        client = Shown(client);
        lock (_gate)
        {
            client["id"] = id;
            if (_clients.Exists(other => other["name"]!.GetValue<string>() == client["name"]!.GetValue<string>() && other["id"]!.GetValue<int>() != id))
                return (400, Failure("Name", "Should be unique"));
            _clients.RemoveAll(other => other["id"]!.GetValue<int>() == id);
            _clients.Add(client);
            return (status, client.DeepClone());
        }
    }

    private JsonNode Filesystem(HttpContext context)
    {
        // A path without a trailing slash is a prefix of a name, as in the real API, so its parent folder is listed.
        var path = context.Request.Query["path"].ToString();
        var folder = path[..(path.LastIndexOf('/') + 1)];
        var (folders, files) = ReadsDisk ? ReadDisk(folder) : Folders.Contains(folder) ? (In(folder, Folders), In(folder, Files)) : ([], []);
        return new JsonObject
        {
            ["parent"] = "/",
            ["directories"] = new JsonArray([.. folders.Select(name => new JsonObject { ["type"] = "folder", ["name"] = name, ["path"] = folder + name + "/" })]),
            ["files"] = context.Request.Query["includeFiles"] != "true" ? new JsonArray() : new JsonArray(
                [.. files.Select(name => new JsonObject { ["type"] = "file", ["name"] = name, ["path"] = folder + name, ["extension"] = Path.GetExtension(name) })]),
        };
    }

    /// <summary>Lists the grab and, if it was imported, the import of a download.</summary>
    private JsonObject History(HttpContext context)
    {
        var download = context.Request.Query["downloadId"].ToString();
        var id = Name == "Radarr" ? "movieId" : "seriesId";
        var number = Imports.GetValueOrDefault(download);
        string[] events = number == 0 ? ["grabbed"] : ["downloadFolderImported", "grabbed"];
        return new JsonObject
        {
            ["page"] = 1,
            ["totalRecords"] = events.Length,
            ["records"] = new JsonArray([.. events.Select(kind => new JsonObject { ["eventType"] = kind, ["downloadId"] = download.ToUpperInvariant(), [id] = number })]),
        };
    }

    private static IEnumerable<string> In(string folder, IEnumerable<string> paths) => paths
        .Where(path => path.Length > folder.Length && path.StartsWith(folder, StringComparison.Ordinal))
        .Select(path => path[folder.Length..].TrimEnd('/'))
        .Where(name => !name.Contains('/', StringComparison.Ordinal));

    /// <summary>Reads a folder of this machine. A missing or unreadable folder is empty, as in the real API.</summary>
    private static (IEnumerable<string> Folders, IEnumerable<string> Files) ReadDisk(string folder)
    {
        try
        {
            var read = new DirectoryInfo(folder);
            return (read.GetDirectories().Select(inner => inner.Name), read.GetFiles().Select(file => file.Name));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return ([], []);
        }
    }

    /// <summary>Requests the version and, with the key, the categories of the client; null if both are right.</summary>
    private async Task<JsonArray?> FailuresAsync(JsonObject client)
    {
        var host = Field(client, "host");
        var origin = $"http://{Names.GetValueOrDefault(host, host)}:{Field(client, "port")}{Field(client, "urlBase")}/api";
        using var http = new HttpClient();
        try
        {
            using var version = await http.GetAsync(new Uri(origin + "?mode=version&output=json"));
            if (version.StatusCode != HttpStatusCode.OK)
                return Failure("Host", "Unable to connect to SABnzbd");
            var config = JsonNode.Parse(await http.GetStringAsync(new Uri($"{origin}?mode=get_config&apikey={Field(client, "apiKey")}&output=json")));
            if (config?["error"] is { } error)
                return Failure("APIKey", error.ToString());
            var categories = config!["config"]!["categories"]!.AsArray().Select(category => category!["name"]!.ToString());
            return categories.Contains(Field(client, _categoryField)) ? null : Failure(_categoryField, "Category does not exist");
        }
        catch (HttpRequestException)
        {
            return Failure("Host", "Unable to connect to SABnzbd, please check your settings");
        }
    }

    private static JsonArray Failure(string property, string message) =>
        [new JsonObject { ["propertyName"] = property, ["errorMessage"] = message, ["severity"] = "error", ["isWarning"] = false }];
}
