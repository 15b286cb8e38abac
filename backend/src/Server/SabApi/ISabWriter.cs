namespace Sluice.Server.SabApi;

/// <summary>Writes an answer as objects, lists and fields, independent of its format (SAB-4). Names are null inside lists only.</summary>
internal interface ISabWriter : IDisposable
{
    void BeginObject(string? name = null);

    void EndObject();

    void BeginList(string name);

    void EndList();

    void Field(string? name, string? value);

    void Field(string? name, long value);

    void Field(string? name, bool value);

    void Complete();

    /// <summary>Passes all written bytes on.</summary>
    void Flush();
}
