using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Queue;

namespace Sluice.Server.WebDav.Tree;

/// <summary>Properties that clients store on queue files (DAV-47). They are stored in the file's row.</summary>
internal sealed class QueueProperties(QueueFileStore queue)
{
    public IPropertyManager Of(QueueFile file) =>
        new StoredProperties(LiveProperties.OfFiles, Read(file.Properties), (changes, cancellationToken) => ChangeAsync(file.Id, changes, cancellationToken));

    private async ValueTask<StoreAnswer> ChangeAsync(long id, IReadOnlyList<PropertyChange> changes, CancellationToken cancellationToken)
    {
        var answer = StoreAnswer.Done;
        var exists = await StoreGuard.RunAsync(() => queue.ChangePropertiesAsync(id, Change, cancellationToken));
        return exists ? answer : StoreAnswer.NotFound;

        string? Change(string text)
        {
            var stored = StoredProperties.Apply(Read(text), changes);
            if (stored is null)
                answer = StoreAnswer.TooLarge;
            return stored?.Count > 0 ? JsonSerializer.Serialize(stored, StoredPropertyJson.Default.IReadOnlyListStoredProperty) : stored is null ? null : "";
        }
    }

    /// <summary>Parses stored properties. Malformed ones are skipped, because they must not hide their file or others in a listing.</summary>
    private static IReadOnlyList<StoredProperty> Read(string text)
    {
        if (text.Length == 0)
            return [];
        try
        {
            var stored = JsonSerializer.Deserialize(text, StoredPropertyJson.Default.IReadOnlyListStoredProperty) ?? [];
            return [.. stored.OfType<StoredProperty>().Where(property => property is { Markup: not null, Name: { Local: not null, Namespace: not null } })];
        }
        catch (JsonException)
        {
            return [];
        }
    }
}

[JsonSerializable(typeof(IReadOnlyList<StoredProperty>))]
internal sealed partial class StoredPropertyJson : JsonSerializerContext;
