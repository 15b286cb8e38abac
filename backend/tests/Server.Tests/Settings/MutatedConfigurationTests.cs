using System.Globalization;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Settings;

/// <summary>No configuration prevents a start (CFG-10).</summary>
public sealed class MutatedConfigurationTests
{
    private const int Configurations = 5_000;
    private const string Providers =
        """{"Providers":[{"ProviderId":"5b0f6a52-1111-4222-8333-944455556666","Nickname":"main","Host":"news.example.com","Port":563,"UseSsl":true,"User":"u","Pass":"p","MaxConnections":20,"Type":1,"Priority":0,"PipeliningDepth":null}]}""";

    private static readonly string[] Seeds =
    [
        "", "0", "-1", "15", "99999999999999999999", "1e9", "true", "NaN", "[", "{}", "null", "[\"a\",null,\"b\"]", "a,b,,c", "/mnt/x", "..", "::1/200",
        "10.0.0.0/8,fe80::/10", "\0", "\r\n.\r\n", "\uD800", "pbkdf2-sha256$1$$", "enc:v1:", Providers, new string('9', 70_000),
    ];

    [Fact]
    public void Every_mutated_configuration_gives_complete_options()
    {
        var random = new Random(20260101);
        var names = SettingSchema.All
            .SelectMany(definition => definition.Aliases.Select(alias => alias.Name).Append(definition.Key))
            .ToArray();
        var variables = names.Select(SettingsResolver.OverrideName)
            .Concat(SettingSchema.All.SelectMany(definition => definition.Fallbacks.Select(fallback => fallback.Name)))
            .Concat(["PORT", "BIND_ADDRESS", "MAX_REQUEST_BODY_SIZE", "DISABLE_WEBDAV_AUTH", "CHECK_BLOCKS", "CONFIG_PATH", "TLS_CERT_FILE", "SLUICE_CONFIG__NO__SUCH"])
            .ToArray();

        for (var i = 0; i < Configurations; i++)
        {
            var environment = Some(random, variables);
            var saved = Some(random, names);
            try
            {
                Load(environment, saved);
            }
            catch (Exception e)
            {
                Assert.Fail(string.Create(CultureInfo.InvariantCulture, $"Configuration {i} of the seed: {e}"));
            }
        }
    }

    internal static Dictionary<string, string> Some(Random random, string[] names) =>
        Enumerable.Range(0, random.Next(8)).Select(_ => names[random.Next(names.Length)]).Distinct().ToDictionary(name => name, _ => Mutate(random));

    private static string Mutate(Random random)
    {
        var text = Seeds[random.Next(Seeds.Length)].ToList();
        for (var change = random.Next(4); change > 0; change--)
        {
            var at = random.Next(text.Count + 1);
            switch (random.Next(3))
            {
                case 0:
                    text.Insert(at, (char)random.Next(0x300));
                    break;
                case 1 when at < text.Count:
                    text.RemoveAt(at);
                    break;
                case 2 when at < text.Count:
                    text[at] = (char)random.Next(char.MaxValue);
                    break;
            }
        }

        return new string([.. text]);
    }

    private static void Load(Dictionary<string, string> variables, Dictionary<string, string> saved)
    {
        // No path may contain a NUL, and the system never passes one in a variable.
        variables = variables.ToDictionary(variable => variable.Key, variable => variable.Value.Replace("\0", "", StringComparison.Ordinal));
        var environment = new ProcessEnvironment(variables);
        var process = ProcessOptions.Read(environment);
        Assert.InRange(process.Port, 0, 65_535);

        var source = new SettingsSource(new SettingsResolver(SettingSchema.All, environment));
        source.Apply(saved);
        var redactor = new LogRedactor(source);
        var settings = source.Current;
        foreach (var setting in settings.All)
        {
            var isUnset = setting.Definition.Generated && setting.Value.Length == 0;
            Assert.True(isUnset || SettingReader.Read(setting.Definition, setting.Value, out _) is not null, setting.Definition.Key);
        }

        _ = GeneralOptions.Read(settings);
        _ = ApiOptions.Read(settings);
        _ = RcloneOptions.Read(settings);
        _ = WebDavOptions.Read(settings, process.DisableWebDavAuth);
        var queue = QueueOptions.Read(settings);
        Assert.InRange(queue.ResumeThreshold, 0, queue.MaxItems);
        var usenet = UsenetOptions.Read(settings);
        Assert.True(usenet.LoginTimeout >= usenet.ConnectTimeout);
        var plan = ProviderPlan.From(usenet, StreamingOptions.Read(settings), 1L << 30, out _);
        Assert.InRange(plan.Streams.ByteBudget, 1, 1L << 28);
        Assert.All(plan.Providers, provider => Assert.DoesNotContain(provider.Host, char.IsControl));
    }
}
