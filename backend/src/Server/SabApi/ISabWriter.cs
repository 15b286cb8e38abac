namespace Sluice.Server.SabApi;

/// <summary>Writes a response as objects, lists and fields in any format (SAB-4). Names are null only inside lists.</summary>
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

    /// <summary>Moves all bytes written so far to the output.</summary>
    void Flush();
}
