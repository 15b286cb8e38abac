using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Every key can be set by the API, the environment and a file, reports its source, and explains a wrong value.</summary>
public sealed class SettingRoundTripTests : IDisposable
{
    private const string OtherProviders = """{"Providers":[{"Host":"127.0.0.1","Port":1,"UseSsl":false,"Type":0}]}""";
    private const string OtherPrograms = """{"SonarrInstances":[{"Host":"http://sonarr:8989","ApiKey":"canarycanary"}]}""";

    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Every_key_can_be_saved_and_a_wrong_value_is_explained()
    {
        await using var server = await ResourceServer.StartAsync(
            _temporary, new() { ["SLUICE_CONFIG__WEBDAV__PASS"] = "", ["SLUICE_CONFIG__API__KEY"] = "" });
        var others = SettingSchema.All.ToDictionary(definition => definition.Key, Other);

        // One save for all, because some values are valid only together, and each save creates a set.
        Assert.Null(await server.SaveAsync(HttpStatusCode.OK, [.. others.Select(other => (other.Key, (string?)other.Value))]));
        var values = await ValuesAsync(server);
        foreach (var definition in SettingSchema.All)
            AssertIs(definition, values[definition.Key], "saved", null, others[definition.Key]);

        var errors = (await server.SaveAsync(HttpStatusCode.BadRequest, [.. SettingSchema.All.Select(definition => (definition.Key, (string?)Wrong(definition)))]))!;
        Assert.Equal(SettingSchema.All.Select(definition => definition.Key).Order(), errors.Select(error => error.Key).Order());
        Assert.All(errors, error =>
        {
            var sentence = Assert.Single(error.Value!.AsArray())!.ToString();
            Assert.True(sentence.Length > 10 && sentence.EndsWith('.'), $"{error.Key}: {sentence}");
        });
        Assert.Equal(values.ToJsonString(), (await ValuesAsync(server)).ToJsonString());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Every_key_can_be_set_by_the_environment_or_a_file(bool isFile)
    {
        using var files = new TemporaryFolder();
        Directory.CreateDirectory(files.Root);
        var variables = SettingSchema.All.ToDictionary(definition => SettingsResolver.OverrideName(definition.Key), Other);
        if (isFile)
        {
            variables = variables.ToDictionary(variable => variable.Key + "_FILE", variable =>
            {
                var path = Path.Combine(files.Root, variable.Key);
                File.WriteAllText(path, variable.Value + "\n");
                return path;
            });
            // RunningServer sets these two variables itself.
            variables["SLUICE_CONFIG__WEBDAV__PASS"] = "";
            variables["SLUICE_CONFIG__API__KEY"] = "";
        }

        await using var server = await ResourceServer.StartAsync(_temporary, variables);

        var values = await ValuesAsync(server);
        foreach (var definition in SettingSchema.All)
            AssertIs(definition, values[definition.Key], "environment", SettingsResolver.OverrideName(definition.Key), Other(definition));
        var errors = (await server.SaveAsync(HttpStatusCode.BadRequest, [.. SettingSchema.All.Select(definition => (definition.Key, (string?)definition.Default))]))!;
        Assert.Equal(SettingSchema.All.Count, errors.Count);
        Assert.All(errors, error => Assert.Contains(SettingsResolver.OverrideName(error.Key), error.Value![0]!.ToString(), StringComparison.Ordinal));
    }

    [Fact]
    public async Task Fallback_variable_sets_its_key_until_a_value_is_saved()
    {
        // Only the first fallback of each key is tested, because it overrides the others.
        var fallbacks = SettingSchema.All
            .Where(definition => definition.Fallbacks.Count > 0 && definition.Fallbacks[0] is { Switch: null, Numerator: 1, Denominator: 1 })
            .ToDictionary(definition => definition.Key, definition => definition.Fallbacks[0].Name);
        var variables = fallbacks.ToDictionary(fallback => fallback.Value, fallback => Other(SettingsValidator.Definition(fallback.Key)!));
        variables["SLUICE_CONFIG__WEBDAV__PASS"] = "";
        variables["SLUICE_CONFIG__API__KEY"] = "";
        await using var server = await ResourceServer.StartAsync(_temporary, variables);

        var values = await ValuesAsync(server);
        foreach (var (key, variable) in fallbacks)
            AssertIs(SettingsValidator.Definition(key)!, values[key], "fallback", variable, variables[variable]);

        await server.SaveAsync(HttpStatusCode.OK, ("general.log-level", "error"));
        Assert.Equal("saved", (await server.ValueAsync("general.log-level"))["source"]!.ToString());
    }

    private static async Task<JsonObject> ValuesAsync(ResourceServer server) =>
        new((await server.GetAsync("settings"))["items"]!.AsArray().Select(item => KeyValuePair.Create(item!["key"]!.ToString(), (JsonNode?)item.DeepClone())));

    private static void AssertIs(SettingDefinition definition, JsonNode? value, string source, string? variable, string text)
    {
        var shown = definition.Secret ? null : SettingReader.Read(definition, text, out _);
        Assert.Equal(
            (definition.Key, source, variable, shown, true),
            (definition.Key, value!["source"]!.ToString(), value["variable"]?.ToString(), value["value"]?.ToString(), value["isSet"]!.GetValue<bool>()));
    }

    /// <summary>Returns a valid value that is not the default.</summary>
    private static string Other(SettingDefinition definition) => definition.Key switch
    {
        "usenet.providers" => OtherProviders,
        "arr.instances" => OtherPrograms,
        // After its restart, the server of a test has to find its tree under this path.
        "general.url-base" => "/base",
        // The first other word would be the most verbose level.
        "general.log-level" => "error",
        "backup.passphrase" => "other passphrase",
        "queue.max-items" => "20",
        "queue.resume-threshold" => "10",
        _ => definition.Type switch
        {
            SettingType.Boolean => definition.Default == "true" ? "false" : "true",
            SettingType.Number => (definition.Default == definition.Max.ToString(CultureInfo.InvariantCulture) ? definition.Max - 1 : Math.Max(definition.Min, long.Parse(definition.Default, CultureInfo.InvariantCulture)) + 1)
                .ToString(CultureInfo.InvariantCulture),
            SettingType.Choice => definition.Words.First(word => word != definition.Default),
            SettingType.Url => "https://other.example.com",
            SettingType.Key => "other-other-other-other",
            SettingType.Password => "other-horse-battery",
            SettingType.Name => "other",
            SettingType.NetworkList => """["10.1.0.0/16"]""",
            SettingType.NameList or SettingType.HostList => """["other"]""",
            SettingType.LineList => """["*.other"]""",
            SettingType.PathList => """["/other"]""",
            SettingType.Path => "/tmp/sluice-other",
            SettingType.Schedule => """[{"days":"mon","from":"08:00","to":"09:00","mbps":5}]""",
            _ => "other",
        },
    };

    private static string Wrong(SettingDefinition definition) => definition.Type switch
    {
        SettingType.Boolean => "maybe",
        SettingType.Number => definition.Max.ToString(CultureInfo.InvariantCulture) + "0",
        SettingType.Choice => "neither",
        SettingType.Url => "ftp://user@host",
        SettingType.Key or SettingType.Password => "short",
        SettingType.Name => "..",
        SettingType.NameList => "..",
        SettingType.NetworkList => "10.0.0.0/99",
        SettingType.HostList => "two words",
        SettingType.PathList or SettingType.Path => "relative",
        SettingType.UrlPath => "/a b",
        SettingType.Schedule or SettingType.Json => "[",
        SettingType.Text => "a:b",
        _ => "two\nlines",
    };
}
