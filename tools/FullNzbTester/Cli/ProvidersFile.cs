using System.Text.Json;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>Reads the providers from an export of Sluice (<c>usenet.providers</c>).</summary>
internal static class ProvidersFile
{
    private const int TlsPort = 563;
    private const int PlainPort = 119;

    /// <param name="path">JSON: <c>{"Providers":[{…}]}</c>.</param>
    /// <param name="only">Nickname of the only provider to use, or null for all.</param>
    /// <exception cref="UsageException">The file cannot be read, an element is invalid, or no provider is left.</exception>
    public static IReadOnlyList<ProviderOptions> Read(string path, string? only)
    {
        List<ProviderOptions> providers;
        try
        {
            using var json = JsonDocument.Parse(File.ReadAllBytes(path));
            providers = [.. json.RootElement.GetProperty("Providers").EnumerateArray().Select(ReadOne)];
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or JsonException or InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new UsageException($"--providers-file: {path} cannot be used: {error.Message}");
        }

        providers = only is null ? providers : [.. providers.Where(provider => provider.Name == only)];
        if (providers.All(provider => provider.Kind == ProviderKind.Disabled))
            throw new UsageException(only is null ? "--providers-file: no provider is enabled." : $"--provider: no provider is called {only}.");
        return providers;
    }

    private static ProviderOptions ReadOne(JsonElement element, int index)
    {
        var host = Text(element, "Host");
        if (string.IsNullOrEmpty(host) || host.AsSpan().ContainsAny("\r\n\0 "))
            throw new FormatException($"provider {index + 1} has no valid Host.");
        var tls = Flag(element, "UseSsl", otherwise: true);
        var pin = Text(element, "TlsPin");
        return new ProviderOptions
        {
            Name = Text(element, "Nickname") is { Length: > 0 } name ? name : host,
            Host = host,
            Port = Number(element, "Port", 1, 65535, index) ?? (tls ? TlsPort : PlainPort),
            UseTls = tls,
            SkipTlsVerification = Flag(element, "SkipTlsVerification", otherwise: false),
            TlsPin = string.IsNullOrEmpty(pin) ? null : pin,
            User = Text(element, "User"),
            Password = Text(element, "Pass"),
            MaxConnections = Number(element, "MaxConnections", 1, 500, index) ?? 20,
            Kind = (ProviderKind)(Number(element, "Type", 0, 3, index) ?? (int)ProviderKind.Pooled),
            Priority = Number(element, "Priority", 0, 99, index) ?? 0,
            PipeliningDepth = Number(element, "PipeliningDepth", 1, 64, index),
            Backbone = Text(element, "StorageGroup") is { Length: > 0 } group ? group : Text(element, "Backbone") ?? "",
        };
    }

    private static string? Text(JsonElement element, string name) =>
        element.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    private static bool Flag(JsonElement element, string name, bool otherwise) =>
        element.TryGetProperty(name, out var value) ? value.GetBoolean() : otherwise;

    private static int? Number(JsonElement element, string name, int least, int most, int index)
    {
        if (!element.TryGetProperty(name, out var value) || value.ValueKind == JsonValueKind.Null)
            return null;
        return value.GetInt32() is var number && number >= least && number <= most
            ? number
            : throw new FormatException($"provider {index + 1}: {name} is not between {least} and {most}.");
    }
}
